/** Pure rules about attachments: valid content and names, and headers that prevent browsers from executing content. */
import { Fault, faultAt } from '../../lib/fault.ts';
import { problemAt } from '../../lib/problem.ts';
import { isWellFormedText } from '../../lib/text.ts';

const LONGEST_NAME = 255;

/**
 * Media types that browsers can handle without risk and that are served unchanged; all others become
 * `application/octet-stream`.
 */
export const SAFE_TYPES: ReadonlySet<string> = new Set([
  'application/gzip',
  'application/json',
  'application/msword',
  'application/pdf',
  'application/vnd.ms-excel',
  'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  'application/zip',
  'audio/mpeg',
  'audio/ogg',
  'image/gif',
  'image/jpeg',
  'image/png',
  'image/webp',
  'text/csv',
  'text/plain',
  'video/mp4',
  'video/webm',
]);

/** Returns the name unchanged. @throws Fault INVALID_REQUEST */
export function checkFilename(name: string): string {
  const length = [...name].length;
  // Separators make a name a path. Control characters and bidirectional overrides make it look like another name.
  const bad = /[/\\\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/.test(name);
  if (length === 0 || length > LONGEST_NAME || bad || !isWellFormedText(name)) {
    throw faultAt('INVALID_REQUEST', '/filename', 'FILENAME');
  }
  return name;
}

/** Returns type and subtype in lower case, without parameters. @throws Fault INVALID_REQUEST */
export function checkMediaType(given: string | undefined): string {
  if (given === undefined) return 'application/octet-stream';
  const type = given.split(';')[0]?.trim().toLowerCase() ?? '';
  if (!/^[a-z0-9][a-z0-9!#$&^_.+-]{0,126}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}$/.test(type)) {
    throw faultAt('INVALID_REQUEST', '/mediaType', 'MEDIA_TYPE');
  }
  return type;
}

/** The decoded content. @throws Fault INVALID_REQUEST, ATTACHMENT_EMPTY, ATTACHMENT_TOO_LARGE */
export function decodeContent(text: string, mostBytes: number): Uint8Array {
  // Four characters encode at most three bytes. Longer texts are refused without decoding.
  if (text.length / 4 > Math.ceil(mostBytes / 3)) throw tooLarge(mostBytes);
  let bytes: Uint8Array;
  try {
    // The decoder accepts white space, which is not part of the alphabet.
    if (/[^A-Za-z0-9+/=]/.test(text)) throw new SyntaxError('not the alphabet');
    bytes = Uint8Array.fromBase64(text, { alphabet: 'base64', lastChunkHandling: 'strict' });
  } catch {
    throw faultAt('INVALID_REQUEST', '/contentBase64', 'BASE64');
  }
  if (bytes.byteLength === 0) throw new Fault('ATTACHMENT_EMPTY', 'The file is empty. Send a file with content.');
  if (bytes.byteLength > mostBytes) throw tooLarge(mostBytes);
  return bytes;
}

function tooLarge(mostBytes: number): Fault {
  return faultAt('ATTACHMENT_TOO_LARGE', '/contentBase64', 'FILE_TOO_LARGE_FOR', { max: mostBytes });
}

function percentEncoded(name: string): string {
  return encodeURIComponent(name).replace(/['()*!]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** RFC 6266: an ASCII name for old clients, and the original name. */
export function contentDisposition(name: string): string {
  const ascii = name.replace(/[^\x20-\x7e]/g, '_').replace(/["\\%;]/g, '_');
  return `attachment; filename="${ascii}"; filename*=UTF-8''${percentEncoded(name)}`;
}

/** Headers that make clients download the file and never display it. */
export function contentHeaders(file: {
  originalFilename: string;
  mediaType: string;
  sha256: string;
}): Record<string, string> {
  const known = SAFE_TYPES.has(file.mediaType) ? file.mediaType : 'application/octet-stream';
  return {
    'Content-Type': known.startsWith('text/') ? `${known}; charset=utf-8` : known,
    'Content-Disposition': contentDisposition(file.originalFilename),
    'X-Content-Type-Options': 'nosniff',
    'Content-Security-Policy': 'sandbox',
    'Cache-Control': 'private, no-store',
    'Accept-Ranges': 'bytes',
    ETag: `"${file.sha256}"`,
  };
}

/**
 * Parses the requested range. Malformed ranges and multiple ranges are ignored, as RFC 9110 allows, and the whole file is sent.
 *
 * @param header `Range`
 * @param size of the file, in bytes
 * @throws Fault RANGE_NOT_SATISFIABLE if the range contains no byte of the file
 */
export function requestedRange(header: string | undefined, size: number): { start: number; end: number } | undefined {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header ?? '');
  if (match === null) return undefined;
  const [, first = '', last = ''] = match;
  if (first === '' && last === '') return undefined;
  if (first === '') {
    const length = Math.min(Number(last), size);
    if (length === 0) throw notSatisfiable(size);
    return { start: size - length, end: size - 1 };
  }
  const start = Number(first);
  if (last !== '' && Number(last) < start) return undefined;
  if (start >= size) throw notSatisfiable(size);
  return { start, end: last === '' ? size - 1 : Math.min(Number(last), size - 1) };
}

function notSatisfiable(size: number): Fault {
  const found = problemAt('header.Range', 'RANGE_NOT_SATISFIABLE', { size });
  return new Fault('RANGE_NOT_SATISFIABLE', found, [found], {
    headers: { 'Content-Range': `bytes */${size}` },
  });
}
