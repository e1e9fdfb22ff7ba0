/** The console's files: compression by Accept-Encoding, and caching of hashed files. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { ConsoleFiles } from './console.ts';
import type { RequestContext } from './request-context.ts';

interface Sent {
  status: number;
  type: string | undefined;
  body: string;
  headers: Record<string, string>;
}

let folder: string;
let files: ConsoleFiles;

/** The answer to a request; undefined if the console does not handle it. */
function ask(url: string, headers: Record<string, string> = {}, method = 'GET'): Sent | undefined {
  const sent: Sent[] = [];
  const context = {
    request: { url, method, headers },
    sendText: (
      status: number,
      type: string | undefined,
      body: string | Uint8Array,
      more: Record<string, string> = {},
    ) => sent.push({ status, type, body: Buffer.from(body).toString(), headers: more }),
  } as unknown as RequestContext;
  return files.answer(context) ? sent[0] : undefined;
}

describe('console files', () => {
  before(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'docket-console-'));
    mkdirSync(path.join(folder, 'assets'));
    writeFileSync(path.join(folder, 'index.html'), '<meta name="csp-nonce" content="__CSP_NONCE__">');
    writeFileSync(path.join(folder, 'scheme.js'), 'plain');
    writeFileSync(path.join(folder, 'assets', 'a-1.js'), 'plain');
    writeFileSync(path.join(folder, 'assets', 'a-1.js.br'), 'brotli');
    writeFileSync(path.join(folder, 'assets', 'a-1.js.gz'), 'gzip');
    files = new ConsoleFiles(folder);
  });
  after(() => rmSync(folder, { recursive: true }));

  it('serve the page to HTML requests only', () => {
    for (const place of ['/', '/records', '/records/1?tab=files', '/assetsnot', '/apiary']) {
      assert.equal(ask(place, { accept: 'text/html,*/*' })?.status, 200, place);
    }
    assert.equal(ask('/')?.status, 200, 'the root needs no Accept');
    for (const place of [
      '/records',
      '/api/v1/objects',
      '/assets/b.js',
      '/index.html',
      '/assets/a-1.js.br',
      '/%2e%2e/x',
    ]) {
      assert.equal(ask(place), undefined, place);
    }
    for (const place of ['/api', '/api/v1/none', '/assets/none.js']) {
      assert.equal(ask(place, { accept: 'text/html' }), undefined, place);
    }
    assert.equal(ask('/', { accept: 'text/html' }, 'POST'), undefined);
    assert.equal(ask('/', { accept: 'text/html' }, 'HEAD')?.status, 200);
  });

  it('carry a new nonce each time and allow nothing inline', () => {
    const seen = new Set<string>();
    for (let turn = 0; turn < 5; turn++) {
      const sent = ask('/');
      const policy = sent?.headers['Content-Security-Policy'] ?? '';
      const nonce = /style-src 'self' 'nonce-([\w-]{24})'/.exec(policy)?.[1] ?? '';
      assert.ok(sent?.body.includes(`content="${nonce}"`), policy);
      assert.ok(policy.includes("default-src 'none'") && !policy.includes('unsafe') && !policy.includes('http'));
      seen.add(nonce);
    }
    assert.equal(seen.size, 5);
  });

  it('are compressed as the client accepts', () => {
    const body = (encodings: string): string | undefined =>
      ask('/assets/a-1.js', encodings === '' ? {} : { 'accept-encoding': encodings })?.body;
    for (const [encodings, expected] of [
      ['gzip, deflate, br', 'brotli'],
      ['gzip', 'gzip'],
      ['br;q=0, gzip', 'gzip'],
      ['br;q=0.0,gzip;q=0', 'plain'],
      ['broken, xbr', 'plain'],
      ['identity', 'plain'],
      ['', 'plain'],
    ] as const) {
      assert.equal(body(encodings), expected, encodings);
    }
    const sent = ask('/assets/a-1.js', { 'accept-encoding': 'br' });
    assert.equal(sent?.headers['Vary'], 'Accept-Encoding');
    assert.match(sent?.headers['Cache-Control'] ?? '', /immutable/);
    assert.doesNotMatch(ask('/scheme.js')?.headers['Cache-Control'] ?? '', /immutable/);
    const etag = sent?.headers['ETag'] ?? '';
    assert.equal(ask('/assets/a-1.js', { 'if-none-match': `"x", W/${etag}` })?.status, 304);
    assert.equal(ask('/assets/a-1.js', { 'if-none-match': '"x"' })?.status, 200);
  });

  it('are not served from a folder without a page', () => {
    const empty = mkdtempSync(path.join(tmpdir(), 'docket-console-'));
    assert.throws(() => new ConsoleFiles(empty));
    rmSync(empty, { recursive: true });
  });
});
