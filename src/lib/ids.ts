/** Ids in the API: lower-case UUIDs (docs/spec/conventions.md). */
const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Whether the text has the form of an id. The database raises an error for other texts. */
export function isId(text: string): boolean {
  return ID.test(text);
}
