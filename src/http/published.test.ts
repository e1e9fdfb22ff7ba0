import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, it } from 'node:test';
import { authenticate, echoing, sendRaw, startSample } from '../../test/support/http-sample.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const PROXY_HEADERS = ['X-Forwarded-For', 'Forwarded', 'Via', 'X-Real-IP', 'X-Forwarded-Host', 'X-Forwarded-Proto'];

describe('behind a proxy on the same machine', () => {
  for (const name of PROXY_HEADERS) {
    it(`rejects metrics for a request with ${name} from an untrusted proxy`, async () => {
      const sample = await startSample(echoing);
      assert.equal((await sample.ask('/metrics', { headers: { [name]: 'unknown' } })).status, 404);
      assert.equal((await sample.ask('/metrics')).status, 200);
      await sample.close();
    });
  }

  it('rejects metrics if a trusted proxy does not name the client, and over HTTP/1.0', async () => {
    const sample = await startSample(echoing, { trustedProxies: ['127.0.0.1'] });
    assert.equal((await sample.ask('/metrics', { headers: { via: '1.1 proxy' } })).status, 404);
    const local = { via: '1.1 proxy', 'x-forwarded-for': '127.0.0.2' };
    assert.equal((await sample.ask('/metrics', { headers: local })).status, 200);
    assert.match(await sendRaw(sample.port, 'GET /metrics HTTP/1.0\r\n\r\n'), /^HTTP\/1\.1 404 /);
    await sample.close();
  });

  it('does not check the network of a key against the address of the proxy', async () => {
    const seen: string[] = [];
    const sample = await startSample(
      echoing,
      {},
      {
        authenticate: async (given) => {
          seen.push(given.ip);
          return await authenticate(given);
        },
      },
    );
    await sample.ask('/api/v1/things');
    await sample.ask('/api/v1/things', { headers: { 'x-real-ip': '192.0.2.1' } });
    assert.deepEqual(seen, ['127.0.0.1', '']);
    await sample.close();
  });
});

describe('published security information', () => {
  it('contains security.txt with contact, expiry and canonical address', async () => {
    const sample = await startSample(
      echoing,
      {},
      { securityContact: 'mailto:security@example.org', publicUrl: 'https://docket.example.org' },
    );
    const { status, text, headers } = await sample.ask('/.well-known/security.txt', { key: null });
    assert.equal(status, 200);
    assert.equal(headers.get('content-type'), 'text/plain; charset=utf-8');
    assert.match(text, /^Contact: mailto:security@example\.org$/m);
    assert.match(text, /^Canonical: https:\/\/docket\.example\.org\/\.well-known\/security\.txt$/m);
    const expires = Date.parse(/^Expires: (\S+)$/m.exec(text)?.[1] ?? '');
    assert.ok(expires > Date.now() && expires < Date.now() + 366 * 86_400_000);
    await sample.close();
  });

  it('contains no security.txt without a contact', async () => {
    const sample = await startSample(echoing);
    assert.equal((await sample.ask('/.well-known/security.txt', { key: null })).status, 404);
    await sample.close();
  });

  it('sends HSTS on every response only if the public address is https', async () => {
    for (const [publicUrl, expected] of [
      ['https://docket.example.org', 'max-age=31536000'],
      ['http://docket.example.org', null],
      [undefined, null],
    ] as const) {
      const sample = await startSample(echoing, {}, { publicUrl });
      for (const place of ['/healthz', '/api/v1/things', '/api/v1/nothing', '/docs']) {
        const { headers } = await sample.ask(place);
        assert.equal(headers.get('strict-transport-security'), expected, place);
      }
      await sample.close();
    }
  });

  it('contains a software bill of materials with every dependency', async () => {
    const manifest = JSON.parse(await readFile(path.join(ROOT, 'package.json'), 'utf8'));
    assert.match(manifest.scripts.prepack, /node tools\/sbom\.mjs/);
    const folder = await mkdtemp(path.join(tmpdir(), 'docket-pack-'));
    try {
      for (const file of ['package.json', 'package-lock.json', 'SECURITY.md']) {
        await copyFile(path.join(ROOT, file), path.join(folder, file));
      }
      const run = (...args: string[]): string => {
        const { status, stdout, stderr } = spawnSync('npm', args, { cwd: folder, encoding: 'utf8', maxBuffer: 1e8 });
        assert.equal(status, 0, stderr);
        return stdout;
      };
      const { status, stderr } = spawnSync(process.execPath, [path.join(ROOT, 'tools/sbom.mjs')], { cwd: folder });
      assert.equal(status, 0, String(stderr));
      const sbom = JSON.parse(await readFile(path.join(folder, 'sbom.json'), 'utf8')) as {
        bomFormat: string;
        components: { name: string }[];
      };
      assert.equal(sbom.bomFormat, 'CycloneDX');
      const names = new Set(sbom.components.map(({ name }) => name));
      for (const name of Object.keys(manifest.dependencies)) assert.ok(names.has(name), name);
      for (const name of ['vite', 'typescript']) assert.ok(!names.has(name), name);
      const packed = run('pack', '--dry-run', '--json', '--ignore-scripts');
      assert.ok(packed.includes('"sbom.json"') && packed.includes('"SECURITY.md"'), packed);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
