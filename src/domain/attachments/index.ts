/**
 * Attachments of records. The blob store keeps the content under its SHA-256. The row has its name and its record.
 *
 * Invariants: content is stored durably before its row commits. Content in use is
 * never deleted. A file is served only as a download, and only to callers who may read the record when it is sent, and see the
 * comment to which the file belongs. A file belongs to at most one comment. A draft is seen by its uploader alone.
 */
export { addCommentWithFiles, addFile } from './commands.ts';
export { commentOfFile } from './store.ts';
