import assert from 'node:assert/strict';
import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { echoing, startSample } from '../../test/support/http-sample.ts';
import { FAULT_CODES } from './reference.ts';

const SCRIPT = `start(${'x'.repeat(2000)});`;

describe('the API reference', () => {
  it('loads one script from this server, compressed and cached permanently', async () => {
    const consoleFolder = await mkdtemp(path.join(tmpdir(), 'docket-reference-'));
    await mkdir(path.join(consoleFolder, 'reference'));
    await writeFile(path.join(consoleFolder, 'index.html'), '<html></html>');
    await writeFile(path.join(consoleFolder, 'reference/reference-0123456789ab.js'), SCRIPT);
    await writeFile(path.join(consoleFolder, 'reference/reference-0123456789ab.js.gz'), gzipSync(SCRIPT));
    const sample = await startSample(echoing, {}, { consoleFolder });
    try {
      const page = await sample.ask('/docs', { key: null });
      assert.equal(page.status, 200);
      const policy = page.headers.get('content-security-policy') ?? '';
      assert.match(policy, /default-src 'none'.*script-src 'self';.*connect-src 'self'/);
      assert.doesNotMatch(policy, /unsafe-eval|https?:|\*/);
      assert.doesNotMatch(page.text, /(?:src|href)="https?:|javascript:|\son\w+=/);
      assert.deepEqual(
        [...page.text.matchAll(/src="([^"]+)"/g)].map(([, src]) => src),
        ['/docs/reference-0123456789ab.js'],
      );
      for (const url of ['/api/v1/openapi.json', '/api/admin/v1/openapi.json'])
        assert.ok(page.text.includes(`"${url}"`));

      for (const [accepted, encoding] of [
        ['gzip, br', 'gzip'],
        ['identity', null],
      ] as const) {
        const headers = { 'accept-encoding': accepted };
        const script = await sample.ask('/docs/reference-0123456789ab.js', { key: null, headers });
        assert.equal(script.status, 200);
        assert.equal(script.text, SCRIPT);
        assert.equal(script.headers.get('content-encoding'), encoding);
        assert.equal(script.headers.get('content-type'), 'text/javascript; charset=utf-8');
        assert.match(script.headers.get('cache-control') ?? '', /immutable/);
      }
    } finally {
      await sample.close();
      await rm(consoleFolder, { recursive: true });
    }
  });

  it('links to the documents where the console is not built', async () => {
    const sample = await startSample(echoing);
    const { status, text } = await sample.ask('/docs', { key: null });
    assert.equal(status, 200);
    assert.doesNotMatch(text, /<script/);
    assert.match(text, /href="\/api\/v1\/openapi\.json"/);
    await sample.close();
  });

  it('has a page for every error code', async () => {
    const sample = await startSample(echoing);
    for (const code of FAULT_CODES) {
      const { status, text, headers } = await sample.ask(`/docs/errors/${code}`, { key: null });
      assert.equal(status, 200, code);
      for (const heading of ['Cause', 'What to do', 'Example']) assert.ok(text.includes(`<h2>${heading}</h2>`), code);
      assert.ok(text.includes(`&quot;code&quot;: &quot;${code}&quot;`), code);
      assert.doesNotMatch(text, /<script|<img|<link|undefined|\[object/i);
      assert.match(headers.get('content-security-policy') ?? '', /default-src 'none'/);
    }
    await sample.close();
  });
});
