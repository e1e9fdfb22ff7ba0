/** Writes of the table `removed_states`. Writes of records refuse to enter these states. */
import { tables } from '../../platform/database/tables.ts';
import { deleteFrom, insertInto } from '../../platform/unit-of-work/table-writes.ts';

export const removeState = insertInto(tables.removed_states, {
  name: 'remove_state',
  guard: false,
  conflict: 'ignore',
});
export const returnState = deleteFrom(tables.removed_states, { name: 'return_state', guard: false });
