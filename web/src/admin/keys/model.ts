import type { AnswerOf } from '../../api/client.ts';
import type { access } from '../../api/types.ts';

export type Key = AnswerOf<typeof access.listKeys>[number];
