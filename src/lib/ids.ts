/** Ids as they stand on the wire: lower-case UUIDs (decisions, "Requests, envelope, errors"). */
const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Whether the text can be an id at all; the database refuses to look for others. */
export function isId(text: string): boolean {
  return ID.test(text);
}
