/**
 * Attachments of records. The blob store keeps the content under its SHA-256. The row has its name and its record.
 *
 * Own table: `attachments`. Invariants: content is stored durably before its row commits. Content in use is never deleted. A
 * file is served only as a download, and only to callers who may read the record when it is sent, and see the comment that the
 * file came with.
 */
export { addFile } from './commands.ts';
export { attachmentRoutes } from './routes.ts';
export { attachmentUse } from './store.ts';
export { attachmentChecks } from './health.ts';
