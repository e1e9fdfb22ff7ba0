/**
 * Files of the web console. They are read once at startup and served from memory, with the compressed variants from the build.
 * Browsers cache hashed files permanently. The page has a nonce for styles per answer; inline scripts are never allowed.
 */
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { RequestContext, Headers } from './request-context.ts';

interface ConsoleFile {
  type: string;
  etag: string;
  plain: Buffer;
  brotli: Buffer | undefined;
  gzip: Buffer | undefined;
  /** True if the file name contains a hash of the content. */
  hashed: boolean;
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.webmanifest': 'application/manifest+json',
};

/** Placeholder in the built page for the nonce of each answer. */
const NONCE_MARK = '__CSP_NONCE__';

const PAGE_HEADERS: Readonly<Headers> = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), microphone=(), geolocation=(), payment=(), usb=()',
  'X-Frame-Options': 'DENY',
};

/**
 * The Content-Security-Policy: own origin only. Pasted images are shown from memory (`blob:`, `data:`) before they are stored.
 */
function contentPolicy(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data: blob:",
    "font-src 'self'",
    "connect-src 'self'",
    "manifest-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

function readFile(folder: string, name: string): ConsoleFile {
  const file = path.join(folder, name);
  const packed = (suffix: string): Buffer | undefined =>
    existsSync(file + suffix) ? readFileSync(file + suffix) : undefined;
  const plain = readFileSync(file);
  return {
    type: TYPES[path.extname(name)] ?? 'application/octet-stream',
    etag: `"${createHash('sha256').update(plain).digest('base64url').slice(0, 27)}"`,
    plain,
    brotli: packed('.br'),
    gzip: packed('.gz'),
    hashed: name.startsWith('assets/'),
  };
}

export class ConsoleFiles {
  readonly #files: ReadonlyMap<string, ConsoleFile>;
  readonly #page: string;

  /** Reads the built console. @throws Error if the folder has no console */
  constructor(folder: string) {
    const names = readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !/\.(?:br|gz|map)$/.test(entry.name))
      .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)).split(path.sep).join('/'))
      // Read from disk when requested (reference.ts).
      .filter((name) => !name.startsWith('reference/'));
    this.#page = readFileSync(path.join(folder, 'index.html'), 'utf8');
    this.#files = new Map(
      names.filter((name) => name !== 'index.html').map((name) => [`/${name}`, readFile(folder, name)]),
    );
  }

  /**
   * Answers a GET of a file or page. Client-side routes are handled in the page: every path that is neither a file nor the
   * API's gets the page if the client accepts HTML.
   *
   * @returns false if the request is not for the console
   */
  answer(context: RequestContext): boolean {
    const { request } = context;
    if (request.method !== 'GET' && request.method !== 'HEAD') return false;
    const [place = ''] = (request.url ?? '').split('?', 1);
    const file = this.#files.get(place);
    if (file !== undefined) {
      sendFile(context, file);
      return true;
    }
    const wantsPage = place === '/' || (request.headers.accept ?? '').includes('text/html');
    if (!wantsPage || /^\/(?:api|assets)(?:\/|$)/.test(place)) return false;
    const nonce = randomBytes(18).toString('base64url');
    context.sendText(200, 'text/html; charset=utf-8', this.#page.replaceAll(NONCE_MARK, nonce), {
      ...PAGE_HEADERS,
      'Content-Security-Policy': contentPolicy(nonce),
    });
    return true;
  }
}

function sendFile(context: RequestContext, file: ConsoleFile): void {
  const { headers } = context.request;
  const answer: Headers = {
    ETag: file.etag,
    Vary: 'Accept-Encoding',
    'Cache-Control': file.hashed ? 'public, max-age=31536000, immutable' : 'public, no-cache',
    'Cross-Origin-Resource-Policy': 'same-origin',
  };
  if (headers['if-none-match']?.split(',').some((one) => one.trim().replace(/^W\//, '') === file.etag) === true) {
    context.sendText(304, undefined, '', answer);
    return;
  }
  const [bytes, encoding] = chosen(file, headers['accept-encoding'] ?? '');
  context.sendText(
    200,
    file.type,
    bytes,
    encoding === undefined ? answer : { ...answer, 'Content-Encoding': encoding },
  );
}

function chosen(file: ConsoleFile, accepted: string): [Buffer, string | undefined] {
  const packed = { br: file.brotli, gzip: file.gzip };
  const encoding = encodingFor(
    accepted,
    (['br', 'gzip'] as const).filter((name) => packed[name] !== undefined),
  );
  return [(encoding === undefined ? undefined : packed[encoding]) ?? file.plain, encoding];
}

/** The first available encoding that the header `Accept-Encoding` allows; undefined for the plain content. */
export function encodingFor<Name extends string>(accepted: string, available: readonly Name[]): Name | undefined {
  const refused = String.raw`;\s*q=0(?:\.0*)?\s*(?:,|$)`;
  return available.find((name) => new RegExp(String.raw`(?:^|[,\s])${name}\s*(?!${refused})(?:$|[,;])`).test(accepted));
}
