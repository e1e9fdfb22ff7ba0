/** Queries on stored records for the sections of the configuration bundle. `app.ts` passes them in. */
import { holdsValue, occupiedStates } from './config-store.ts';

export const recordProbe = { holdsValue, occupiedStates };
