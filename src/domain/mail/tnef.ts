/**
 * Reads `winmail.dat`: the files and texts that Outlook packs into one part (TNEF, MS-OXTNEF). Bodies in RTF are not read. It
 * runs in the thread that parses messages. Nothing in the format is compressed, so the result is not larger than the input.
 */

export interface TnefFile {
  name: string | null;
  mediaType: string | null;
  content: Uint8Array;
}

export interface Tnef {
  text: string | null;
  html: string | null;
  files: TnefFile[];
  /** Whether there is a body that is not read, and no other one. */
  hasOtherBody: boolean;
  /** False if a file was left out: an object that is neither a file nor a message, or a file without content. */
  isComplete: boolean;
}

export class TnefError extends Error {}

const SIGNATURE = 0x22_3e_9f_78;
const MAX_FILES = 200;
const MAX_PROPERTIES = 20_000;
/** Messages inside of messages. */
const MAX_DEPTH = 4;

/** Attributes of the stream. */
const ATTRIBUTE = {
  body: 0x00_02_80_0c,
  title: 0x00_01_80_10,
  data: 0x00_06_80_0f,
  /** Begins another file. */
  renderData: 0x00_06_90_02,
  messageProperties: 0x00_06_90_03,
  fileProperties: 0x00_06_90_05,
  codepage: 0x00_06_90_07,
} as const;

/** Ids of MAPI properties. */
const PROPERTY = {
  body: 0x10_00,
  rtf: 0x10_09,
  html: 0x10_13,
  displayName: 0x30_01,
  data: 0x37_01,
  longName: 0x37_07,
  mediaType: 0x37_0e,
  internetCodepage: 0x3f_de,
} as const;

/** Types of MAPI properties whose values have a length, and sizes of the others. */
const TYPE = { object: 0x0d, string: 0x1e, unicode: 0x1f, binary: 0x01_02, many: 0x10_00 } as const;
const WITH_LENGTH: ReadonlySet<number> = new Set([TYPE.object, TYPE.string, TYPE.unicode, TYPE.binary]);
const SIZES: ReadonlyMap<number, number> = new Map([
  ...[0x02, 0x03, 0x04, 0x0a, 0x0b].map((type) => [type, 4] as const),
  ...[0x05, 0x06, 0x07, 0x14, 0x40].map((type) => [type, 8] as const),
  [0x48, 16],
]);

/** Bytes that are read from front to back. */
class Reader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get left(): number {
    return this.#bytes.length - this.#at;
  }

  /** @throws TnefError if fewer bytes are left */
  take(length: number): Buffer {
    if (length > this.left) throw new TnefError('The data ends too early.');
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }

  /** Properties are padded to four bytes. */
  takePadded(length: number): Buffer {
    const bytes = this.take(length);
    this.take(Math.min((4 - (length % 4)) % 4, this.left));
    return bytes;
  }

  u16(): number {
    return this.take(2).readUInt16LE();
  }
  u32(): number {
    return this.take(4).readUInt32LE();
  }
}

interface Property {
  type: number;
  /** The first of several values. */
  value: Buffer;
}

/** @throws TnefError */
function readProperties(bytes: Uint8Array): Map<number, Property> {
  const reader = new Reader(bytes);
  const found = new Map<number, Property>();
  const count = reader.u32();
  if (count > MAX_PROPERTIES) throw new TnefError('There are too many properties.');
  for (let index = 0; index < count; index++) {
    const [type, id] = [reader.u16(), reader.u16()];
    // Named properties.
    if (id >= 0x80_00) {
      reader.take(16);
      if (reader.u32() === 0) reader.u32();
      else reader.takePadded(reader.u32());
    }
    const value = readValues(reader, type);
    if (value !== undefined && !found.has(id)) found.set(id, { type: type & ~TYPE.many, value });
  }
  return found;
}

function readValues(reader: Reader, type: number): Buffer | undefined {
  const base = type & ~TYPE.many;
  const hasLength = WITH_LENGTH.has(base);
  const size = SIZES.get(base);
  if (!hasLength && size === undefined) throw new TnefError('A property has an unknown type.');
  const count = hasLength || base !== type ? reader.u32() : 1;
  let first: Buffer | undefined;
  for (let index = 0; index < count; index++) {
    const value = reader.takePadded(hasLength ? reader.u32() : (size ?? 0));
    first ??= value;
  }
  return first;
}

/** Names of code pages that are not `windows-N`. */
const CODEPAGES: Readonly<Record<number, string>> = {
  866: 'ibm866',
  932: 'shift_jis',
  936: 'gbk',
  949: 'euc-kr',
  950: 'big5',
  20866: 'koi8-r',
  65001: 'utf-8',
};

function decode(bytes: Uint8Array, codepage: number): string {
  let decoder: TextDecoder;
  try {
    decoder = new TextDecoder(CODEPAGES[codepage] ?? `windows-${codepage}`);
  } catch {
    decoder = new TextDecoder('windows-1252');
  }
  return decoder.decode(bytes).replace(/\0+$/, '');
}

function textOf(property: Property | undefined, codepage: number): string | null {
  if (property === undefined) return null;
  const { type, value } = property;
  const text = type === TYPE.unicode ? value.toString('utf16le').replace(/\0+$/, '') : decode(value, codepage);
  return text === '' ? null : text;
}

/** A file of the stream, as far as it is known. */
interface PartialFile {
  title?: Buffer;
  data?: Buffer;
  properties?: Map<number, Property>;
}

/** @throws TnefError if it is malformed, and nothing else */
export function readTnef(bytes: Uint8Array): Tnef {
  return readMessage(bytes, 1, { files: 0 });
}

function readMessage(bytes: Uint8Array, depth: number, budget: { files: number }): Tnef {
  const reader = new Reader(bytes);
  if (reader.u32() !== SIGNATURE) throw new TnefError('This is no TNEF.');
  reader.u16();
  const parts: PartialFile[] = [];
  let codepage = 1252;
  let body: Buffer | undefined;
  let properties = new Map<number, Property>();
  while (reader.left > 0) {
    const [level] = reader.take(1);
    // Some programs put other bytes behind the end.
    if (level !== 1 && level !== 2) break;
    const attribute = reader.u32();
    const value = reader.take(reader.u32());
    // A checksum, which the last attribute can lack.
    reader.take(Math.min(2, reader.left));
    const part = parts.at(-1);
    if (attribute === ATTRIBUTE.codepage && value.length >= 4) codepage = value.readUInt32LE();
    else if (attribute === ATTRIBUTE.body) body = value;
    else if (attribute === ATTRIBUTE.messageProperties) properties = readProperties(value);
    else if (attribute === ATTRIBUTE.renderData) {
      if (++budget.files > MAX_FILES) throw new TnefError('There are too many files.');
      parts.push({});
    } else if (part === undefined) continue;
    else if (attribute === ATTRIBUTE.title) part.title = value;
    else if (attribute === ATTRIBUTE.data) part.data = value;
    else if (attribute === ATTRIBUTE.fileProperties) part.properties = readProperties(value);
  }
  const internet = properties.get(PROPERTY.internetCodepage);
  const ofTexts = internet?.value.length === 4 ? internet.value.readUInt32LE() : codepage;
  const text = textOf(properties.get(PROPERTY.body), codepage) ?? (body === undefined ? null : decode(body, codepage));
  const html = textOf(properties.get(PROPERTY.html), ofTexts);
  const hasOtherBody = text === null && html === null && properties.has(PROPERTY.rtf);
  const found: Tnef = { text, html, files: [], hasOtherBody, isComplete: true };
  for (const part of parts) addPart(found, part, codepage, { depth, budget });
  return found;
}

function addPart(
  found: Tnef,
  { title, data, properties }: PartialFile,
  codepage: number,
  { depth, budget }: { depth: number; budget: { files: number } },
): void {
  const property = (id: number): Property | undefined => properties?.get(id);
  const own = title === undefined ? null : decode(title, codepage) || null;
  const name = textOf(property(PROPERTY.longName), codepage) ?? own ?? textOf(property(PROPERTY.displayName), codepage);
  const embedded = property(PROPERTY.data);
  if (embedded?.type === TYPE.object) {
    // The id of its interface stands before it. Other objects than messages, such as drawings, are left out.
    const inner = embedded.value.subarray(16);
    const isMessage = inner.length > 4 && inner.readUInt32LE() === SIGNATURE && depth < MAX_DEPTH;
    if (!isMessage) found.isComplete = false;
    else addMessage(found, name, readMessage(inner, depth + 1, budget));
    return;
  }
  const content = data ?? embedded?.value;
  if (content === undefined) found.isComplete = false;
  else found.files.push({ name, mediaType: textOf(property(PROPERTY.mediaType), codepage), content });
}

/** A message inside of the message: its text as a file, and its files. */
function addMessage(found: Tnef, name: string | null, inner: Tnef): void {
  const [text, mediaType, extension] =
    inner.text === null ? [inner.html, 'text/html', '.html'] : [inner.text, 'text/plain', '.txt'];
  if (text !== null) {
    found.files.push({ name: `${name ?? 'message'}${extension}`, mediaType, content: Buffer.from(text) });
  }
  found.files.push(...inner.files);
  found.isComplete &&= inner.isComplete && !inner.hasOtherBody;
}
