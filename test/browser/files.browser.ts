/**
 * Files with hostile names, types and content, downloaded and embedded in headless Chromium: nothing in them runs, and the name
 * arrives. Needs /usr/bin/chromium, Debian's package `chromium`.
 */
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { readFile } from 'node:fs/promises';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { type RecordFixture, startRecordFixture } from '../support/record-fixture.ts';

const NAMES = [
  'plain.html',
  'Отчёт за май.pdf',
  'Ёлка и ёжик — «смета» №5.docx',
  'e\u0301te\u0301.txt',
  '報告書.txt',
  'تقرير.txt',
  'דוח\u200f.txt',
  'ไฟล์.txt',
  '👩‍💻 🏳️‍🌈.png',
  '\u{1d4d7}.txt',
  'a"b.html',
  "o'clock.html",
  'a;b=c.html',
  `a"; filename*=UTF-8''evil.html`,
  `a'; filename="evil.html`,
  'filename=evil.exe; x.txt',
  '%41%2F%00.txt',
  'a%22%0d%0aX: 1.txt',
  '=?utf-8?Q?evil?=.txt',
  "UTF-8''evil.html",
  'a, b.txt',
  'a&b<c>d.html',
  '<script>alert(1)<script>.html',
  '"><img src=x onerror=alert(1)>.svg',
  'javascript:alert(1).html',
  'data:text;html,x.html',
  'file:etc.txt',
  'a?b#c.txt',
  'a*b|c.txt',
  '$(touch x)`id`.sh',
  '-rf --no-preserve-root.txt',
  '~user.txt',
  'CON.txt',
  'noextension',
  'double.pdf.exe',
  'a\u2028b\u2029c.txt',
  'a\u00a0\u3000b.txt',
  'zero\u200bwidth\ufeff.txt',
  'x'.repeat(200) + '.txt',
  `${'длинное-имя'.repeat(20)}.txt`,
] as const;

const TYPES = [
  'text/html',
  'application/xhtml+xml',
  'image/svg+xml',
  'text/javascript',
  'application/javascript',
  'module/javascript',
  'text/css',
  'text/xml',
  'application/xml',
  'application/xslt+xml',
  'application/pdf',
  'application/x-shockwave-flash',
  'application/wasm',
  'multipart/x-mixed-replace',
  'message/rfc822',
  'application/json',
  'text/plain',
  'text/csv',
  'image/png',
  'image/gif',
  'video/mp4',
  'application/octet-stream',
  'unknown/unknown',
  'x/y',
] as const;
/** How many types each name is tried with. */
const EACH = 2;
/** Pages that work side by side. */
const PAGES = 4;

let fixture: RecordFixture;
let trap: Server;
let trapUrl: string;
/** Content that ran and reported it. */
const ran: string[] = [];
/** What the trap serves, by path. */
const pages: Record<string, string> = {};
let browser: Browser;
let context: BrowserContext;

/** Content that would call the trap if a browser took it for a page, an image that runs, a script or a style. */
function bait(mark: string): string {
  const call = `${trapUrl}/ran?${mark}`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" onload="fetch('${call}-svg')"><script>fetch('${call}-svg-script')</script></svg>`,
    `<html><body onload="fetch('${call}-onload')"><img src="${call}-img"><script>fetch('${call}-script')</script></body></html>`,
  ].join('\n');
}

async function upload(objectId: string, filename: string, mediaType: string, content: string): Promise<string> {
  const contentBase64 = Buffer.from(content).toString('base64');
  const body = { filename, mediaType, contentBase64 };
  return (await fixture.ok('chief', 'POST', `/objects/${objectId}/attachments`, body)).id;
}

const contentUrl = (id: string): string => `${fixture.app.url}/api/v1/attachments/${id}/content`;

/** The file name in the header, by RFC 6266. */
async function offeredName(id: string): Promise<string> {
  const answer = await fetch(contentUrl(id), { headers: { authorization: `Bearer ${fixture.keys.chief}` } });
  await answer.arrayBuffer();
  const header = answer.headers.get('content-disposition') ?? '';
  return decodeURIComponent(/^attachment; filename="[^"]*"; filename\*=UTF-8''([^;]*)$/.exec(header)?.[1] ?? '');
}

/** Chromium's file name on disk: composed, and without characters that some file systems cannot store. */
function savedName(name: string): string {
  return name
    .normalize('NFC')
    .replaceAll(/["*:<>?|]|\p{Cf}/gu, '_')
    .replace(/^~/, '_');
}

async function downloaded(page: Page, id: string): Promise<{ name: string; content: string }> {
  const waiting = page.waitForEvent('download');
  await assert.rejects(page.goto(contentUrl(id)), /Download is starting|ERR_ABORTED/);
  const download = await waiting;
  const content = await readFile(await download.path(), 'utf8');
  await download.delete();
  assert.equal(page.url(), 'about:blank', 'nothing was opened');
  return { name: download.suggestedFilename(), content };
}

describe('attachments in a browser', () => {
  before(async () => {
    fixture = await startRecordFixture();
    trap = createServer((request, response) => {
      if (request.url?.startsWith('/ran') === true) ran.push(request.url);
      response.setHeader('access-control-allow-origin', '*');
      response.setHeader('content-type', 'text/html');
      response.end(pages[request.url ?? ''] ?? '');
    });
    await new Promise<void>((resolve) => trap.listen(0, '127.0.0.1', resolve));
    trapUrl = `http://127.0.0.1:${(trap.address() as AddressInfo).port}`;
    browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
    context = await browser.newContext({ acceptDownloads: true });
    await context.setExtraHTTPHeaders({ authorization: `Bearer ${fixture.keys.chief}` });
  });
  after(async () => {
    await browser.close();
    trap.close();
    await fixture.close();
  });
  it('would run if they were served with their declared type', async () => {
    pages['/page'] = bait('control');
    const page = await context.newPage();
    await page.goto(`${trapUrl}/page`, { waitUntil: 'networkidle' });
    await page.close();
    assert.ok(
      ran.some((url) => url.endsWith('control-script')),
      'the trap works',
    );
    ran.length = 0;
  });

  it('are downloaded under their names and never opened', async () => {
    const { id: objectId } = await fixture.make();
    const files = NAMES.flatMap((name, index) =>
      Array.from({ length: EACH }, (_, turn) => ({ name, type: TYPES[(index + turn * 12) % TYPES.length] as string })),
    );
    const work = files.entries();
    const worker = async (): Promise<void> => {
      const page = await context.newPage();
      for (const [index, { name, type }] of work) {
        const content = bait(`${index}`);
        const id = await upload(objectId, name, type, content);
        const saved = await downloaded(page, id);
        assert.equal(saved.content, content, name);
        assert.equal(saved.name, savedName(name), name);
        assert.equal(await offeredName(id), name);
      }
      await page.close();
    };
    const ends = await Promise.allSettled(Array.from({ length: PAGES }, worker));
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
    assert.deepEqual(ran, []);
  });

  it('do not run in a page that embeds them', async () => {
    const { id: objectId } = await fixture.make();
    const tags: string[] = [];
    for (const [index, type] of TYPES.entries()) {
      const code = contentUrl(await upload(objectId, `${index}.js`, type, `fetch('${trapUrl}/ran?code-${index}')`));
      const shown = contentUrl(await upload(objectId, `${index}.html`, type, bait(`shown-${index}`)));
      const style = contentUrl(
        await upload(objectId, `${index}.css`, type, `body { background: url('${trapUrl}/ran?style-${index}') }`),
      );
      tags.push(`<script src="${code}"></script><script type="module" src="${code}"></script>`);
      tags.push(
        `<iframe src="${shown}"></iframe><object data="${shown}"></object><embed src="${shown}"><img src="${shown}">`,
      );
      tags.push(`<link rel="stylesheet" href="${style}"><link rel="prefetch" href="${shown}">`);
    }
    pages['/embedding'] = `<html><head></head><body>${tags.join('\n')}<script>fetch('/ran?own')</script></body></html>`;
    const page = await context.newPage();
    await page.goto(`${trapUrl}/embedding`, { waitUntil: 'networkidle' });
    await page.close();
    assert.deepEqual(ran, ['/ran?own'], 'but for the script of the page itself');
  });
});
