import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, it } from 'node:test';
import { findSecretBox, makeSecretBox, SealBroken, SecretBox, secretBytes } from './secrets.ts';

const KEY = 'a master key of the tests, long enough';

describe('sealed secrets', () => {
  it('open only with the same key and for the same purpose', () => {
    const box = new SecretBox(KEY);
    const sealed = box.seal('whsec_value', 'secret 1');
    assert.ok(!sealed.includes('value'));
    assert.equal(new SecretBox(KEY).open(sealed, 'secret 1'), 'whsec_value');
    assert.throws(() => box.open(sealed, 'secret 2'), SealBroken);
    assert.throws(() => new SecretBox(`${KEY}!`).open(sealed, 'secret 1'), SealBroken);
    assert.notDeepEqual(box.seal('whsec_value', 'secret 1'), sealed, 'never twice the same');
  });

  it('give other keys for other purposes and master keys, and always the same for one', () => {
    const box = new SecretBox(KEY);
    assert.equal(box.deriveKey('a').length, 32);
    assert.deepEqual(box.deriveKey('a'), new SecretBox(KEY).deriveKey('a'));
    assert.notDeepEqual(box.deriveKey('a'), box.deriveKey('b'));
    assert.notDeepEqual(box.deriveKey('a'), new SecretBox(`${KEY}!`).deriveKey('a'));
  });

  it('do not open with a flipped bit or when truncated', () => {
    const box = new SecretBox(KEY);
    const sealed = box.seal('value', 'p');
    for (let at = 0; at < sealed.length; at++) {
      const changed = Buffer.from(sealed);
      changed[at] = (changed[at] ?? 0) ^ 1;
      assert.throws(() => box.open(changed, 'p'), SealBroken, `byte ${at}`);
      assert.throws(() => box.open(sealed.subarray(0, at), 'p'), SealBroken, `first ${at} bytes`);
    }
  });

  it('have the requested number of bytes', () => {
    assert.equal(secretBytes(32).length, 32);
    assert.notDeepEqual(secretBytes(32), secretBytes(32));
  });
});

describe('the master key', () => {
  it('is created once in the data folder, readable by its owner only, under concurrent requests', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'docket-key-'));
    try {
      const dataDir = path.join(folder, 'data');
      const settings = { secretKey: undefined, dataDir };
      assert.equal(await findSecretBox(settings), undefined, 'looking for it makes none');
      const boxes = await Promise.all(Array.from({ length: 8 }, () => makeSecretBox(dataDir)));
      const sealed = boxes[0]?.seal('x', 'p') ?? Buffer.alloc(0);
      for (const box of boxes) assert.equal(box.open(sealed, 'p'), 'x');
      assert.deepEqual(await readdir(dataDir), ['master.key'], 'no draft is left');
      assert.equal((await stat(path.join(dataDir, 'master.key'))).mode & 0o777, 0o600);
      const found = await findSecretBox(settings);
      assert.equal(found?.open(sealed, 'p'), 'x', 'after a restart too');
      assert.equal(found?.fingerprint, boxes[0]?.fingerprint);
      const given = await findSecretBox({ secretKey: KEY, dataDir });
      assert.throws(() => given?.open(sealed, 'p'), SealBroken, 'the setting goes before the file');
      assert.notEqual(given?.fingerprint, found?.fingerprint);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  it('does not overwrite an invalid key file', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'docket-key-'));
    try {
      await writeFile(path.join(folder, 'master.key'), 'short\n');
      await assert.rejects(findSecretBox({ secretKey: undefined, dataDir: folder }), /holds no master key/);
      await assert.rejects(makeSecretBox(folder), /holds no master key/);
      assert.equal(await readFile(path.join(folder, 'master.key'), 'utf8'), 'short\n');
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
