/** The samples of docs/how-to/verify-webhooks.md, tried as they are written, in each language that this machine has. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, it } from 'node:test';
import { shownSecret, signedHeaders } from '../src/domain/webhooks/rules.ts';

const page = readFileSync(path.join(import.meta.dirname, '..', 'docs', 'how-to', 'verify-webhooks.md'), 'utf8');

interface Language {
  fence: string;
  file: string;
  /** True if the language is installed. */
  probe: readonly string[];
  run(file: string): readonly string[];
}

const LANGUAGES: readonly Language[] = [
  {
    fence: 'typescript',
    file: 'verify.mts',
    probe: [process.execPath, '--version'],
    run: (file) => [process.execPath, file],
  },
  { fence: 'python', file: 'verify.py', probe: ['python3', '--version'], run: (file) => ['python3', file] },
  { fence: 'go', file: 'verify.go', probe: ['go', 'version'], run: (file) => ['go', 'run', file] },
  { fence: 'sh', file: 'verify.sh', probe: ['openssl', 'version'], run: (file) => ['sh', file] },
];

/** The program in the language; the page has others fences too, which are no programs. */
function sample(fence: string): string {
  const blocks = [...page.matchAll(new RegExp(`^\`\`\`${fence}\\n([^]*?)^\`\`\`$`, 'gm'))].map(
    ([, text]) => text ?? '',
  );
  const program = blocks.find((text) => /verify\(|signature=\$3/.test(text) && !text.includes('rawBody'));
  assert.ok(program, `there is a program in ${fence}`);
  return program;
}

function isThere([command = '', ...args]: readonly string[]): boolean {
  return spawnSync(command, args).status === 0;
}

const there = LANGUAGES.filter(({ probe }) => isThere(probe));

describe('samples of signature verification', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'docket-samples-'));
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('exist in four languages', () => {
    for (const { fence } of LANGUAGES) sample(fence);
    assert.ok(there.length >= 1);
  });

  for (const { fence, file, run } of there) {
    it(`accept genuine requests only: ${fence}`, () => {
      const place = path.join(folder, file);
      writeFileSync(place, sample(fence));
      const secret = shownSecret(Buffer.from('0123456789abcdef0123456789abcdef'));
      const id = '019a9f6c-8d1e-7c32-9a51-2f6d1c1f0a77';
      const body = Buffer.from('{"text":"Ünïcode / \\"quoted\\" 😀\\n","n":12.50}\n');
      const now = new Date().toISOString();
      const verified = (
        given: { secret?: string; timestamp?: string; id?: string; body?: Buffer; signature?: string } = {},
      ): boolean => {
        const timestamp = given.timestamp ?? now;
        const signature = given.signature ?? signedHeaders([secret], timestamp, id, body)['x-itsm-signature'] ?? '';
        const [command = '', ...args] = run(place);
        const done = spawnSync(command, [...args, timestamp, given.id ?? id, signature], {
          input: given.body ?? body,
          env: { ...process.env, WEBHOOK_SECRET: given.secret ?? secret },
        });
        assert.ok(done.status === 0 || done.status === 1, `${done.stderr}`);
        return done.status === 0;
      };
      assert.ok(verified(), 'a genuine request');
      assert.ok(!verified({ body: Buffer.from(`${body} `) }), 'another body');
      assert.ok(!verified({ id: id.replace('0', '1') }), 'another id');
      assert.ok(!verified({ secret: secret.replace('w', 'W') }), 'another secret');
      assert.ok(!verified({ signature: 'sha256=00' }), 'another signature');
      const old = new Date(Date.now() - 6 * 60_000).toISOString();
      assert.ok(!verified({ timestamp: old }), 'an old request');
    });
  }
});
