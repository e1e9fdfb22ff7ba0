/** File content: base64 for uploads, and raw answers. */

/** Content of an upload. Streams are read completely first: the service takes a file in one request. */
export type Content = Uint8Array | ArrayBuffer | Blob | ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>;

/** Reads the content into memory. */
export async function bytesOf(content: Content): Promise<Uint8Array> {
  if (content instanceof Uint8Array) return content;
  if (content instanceof ArrayBuffer) return new Uint8Array(content);
  if (content instanceof Blob) return new Uint8Array(await content.arrayBuffer());
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of partsOf(content)) {
    parts.push(part);
    size += part.length;
  }
  const whole = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** Not all browsers support async iteration of streams. */
async function* partsOf(content: ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  if (!('getReader' in content)) {
    yield* content;
    return;
  }
  const reader = content.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    reader.releaseLock();
  }
}

/** Divisible by three, so that the base64 chunks can be concatenated; small enough for the arguments of one call. */
const PIECE = 3 * 8192;

/** Base64 with padding. */
export function toBase64(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += PIECE) {
    text += btoa(String.fromCharCode(...bytes.subarray(at, at + PIECE)));
  }
  return text;
}

/** @throws Error if the text is not base64 */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

/** A raw answer, usually a file. Its content can be read once, with one of the methods. */
export class Download {
  readonly #response: Response;

  constructor(response: Response) {
    this.#response = response;
  }

  get mediaType(): string {
    return this.#response.headers.get('content-type') ?? 'application/octet-stream';
  }

  /** Size in bytes; undefined if the answer has no Content-Length. */
  get size(): number | undefined {
    const length = this.#response.headers.get('content-length');
    return length === null ? undefined : Number(length);
  }

  /** The file name in Content-Disposition. */
  get filename(): string | undefined {
    const disposition = this.#response.headers.get('content-disposition') ?? '';
    const extended = /filename\*=UTF-8''([^;]+)/i.exec(disposition)?.[1];
    if (extended !== undefined) return decodeURIComponent(extended);
    return /filename="((?:[^"\\]|\\.)*)"/i.exec(disposition)?.[1]?.replaceAll(/\\(.)/g, '$1');
  }

  /** All headers of the answer. */
  get headers(): Headers {
    return this.#response.headers;
  }

  /** The content as a stream, not buffered in memory. */
  stream(): ReadableStream<Uint8Array> {
    return this.#response.body ?? new Blob([]).stream();
  }

  async bytes(): Promise<Uint8Array> {
    return new Uint8Array(await this.#response.arrayBuffer());
  }

  async blob(): Promise<Blob> {
    return await this.#response.blob();
  }

  async text(): Promise<string> {
    return await this.#response.text();
  }

  async json<Value = unknown>(): Promise<Value> {
    return (await this.#response.json()) as Value;
  }
}
