/**
 * Mail: templates, mailboxes, and what received mail becomes (docs/decisions/0023-mail-proves-its-sender.md).
 *
 * Invariants:
 * - Mail never widens rights. An effect runs as the sender, by the ordinary commands.
 * - A mail becomes a comment only with a valid token of this record and this sender.
 * - A message has one effect in a mailbox, written with it in one unit of work.
 */
export { listUnreadable } from './store.ts';
