/**
 * Files on a record. Content lies in the blob store under its SHA-256; the row says what it is called and where it belongs.
 *
 * Own table: `attachments`. Invariants: content is safe in the store before its row commits; content in use is never
 * swept; a file is served for download alone, and only to who may read the record at the moment it is sent.
 */
export { attachmentRoutes } from './routes.ts';
export { attachmentUse } from './store.ts';
export { attachmentChecks } from './store-checks.ts';
