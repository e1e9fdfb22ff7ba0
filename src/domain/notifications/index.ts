/**
 * Notifications of users about records, watches, and what each user chose.
 *
 * Invariants:
 * - Notifications are made after commit, by a consumer of the journal. Changes do not wait for them. Imports
 *   notify only if their definition says so.
 * - A user has at most one notification of an event and one of a comment. Nobody is notified of their own actions.
 * - Rights are evaluated when a notification is made and at each reading: in the list and in the number of unread ones.
 * - A watch ends when the user may no longer read the record.
 */
export { hidesPeople } from './audience.ts';
export { notifyOfImport } from './commands.ts';
export { adoptImports } from './store-make.ts';
export {
  type DigestedNotification,
  type MailedNotification,
  notifiedRecords,
  readDigested,
  readMailed,
  takeDueMails,
} from './store.ts';
export { unreadRecords } from './queries.ts';
