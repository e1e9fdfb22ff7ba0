/** How the console shows each visibility of a comment. A visibility without an entry here does not compile. */
import { IconEye, IconLock, type IconProps } from '@tabler/icons-react';
import type { ComponentType } from 'react';
import { COMMENT_VISIBILITIES, type CommentVisibility } from '../../../src/contract/comment-visibility.ts';
import { type Bilingual, both } from '../i18n/text.ts';

interface VisibilityView {
  icon: ComponentType<IconProps>;
  /** The choice while writing. */
  label: Bilingual;
  /** The mark on a comment. */
  short: Bilingual;
  placeholder: Bilingual;
  send: Bilingual;
  /** The key that starts such a comment. */
  key: string;
  /** Colour of the button that sends. */
  color: string;
}

export const VISIBILITY_VIEWS: Readonly<Record<CommentVisibility, VisibilityView>> = {
  public: {
    icon: IconEye,
    label: both('Ответ заявителю', 'Reply to requester'),
    short: both('Публичный', 'Public'),
    placeholder: both('Ответ увидит заявитель…', 'The requester will see this reply…'),
    send: both('Отправить ответ', 'Send reply'),
    key: 'R',
    color: 'petrol',
  },
  internal: {
    icon: IconLock,
    label: both('Внутренний комментарий', 'Internal note'),
    short: both('Внутренний', 'Internal'),
    placeholder: both('Комментарий увидят только сотрудники…', 'Only agents will see this comment…'),
    send: both('Добавить комментарий', 'Add comment'),
    key: 'N',
    color: 'yellow.9',
  },
};

/** The view of a visibility in stored data, such as history; undefined for an unknown value. */
export function viewOf(visibility: unknown): VisibilityView | undefined {
  const known = COMMENT_VISIBILITIES.find((one) => one === visibility);
  return known === undefined ? undefined : VISIBILITY_VIEWS[known];
}
