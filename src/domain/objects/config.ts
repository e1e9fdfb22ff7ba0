/** What sections of the configuration bundle ask of stored records; `app.ts` hands it to them. */
import { holdsValue, occupiedStates } from './config-store.ts';

export const recordProbe = { holdsValue, occupiedStates };
