/** What the client has of the interface is what the interface is. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { FAULTS } from '../../src/lib/fault-codes.ts';
import { MODULES } from '../../src/modules.ts';
import { operationsOf } from '../../src/platform/module.ts';
import { generatedFiles } from '../tools/generate.ts';
import { Docket, ERROR_CODES } from '../src/index.ts';

const folder = path.join(import.meta.dirname, '../src/generated');

describe('generated client code', () => {
  it('matches the OpenAPI documents (npm run client writes it)', async () => {
    const files = await generatedFiles();
    assert.deepEqual(readdirSync(folder).sort(), [...files.keys()].sort());
    for (const [name, text] of files) {
      assert.ok(readFileSync(path.join(folder, name), 'utf8') === text, `${name} is stale: npm run client`);
    }
  });

  it('has a method for every operation', () => {
    const docket = new Docket({ url: 'http://nowhere.invalid' });
    const missing = operationsOf(MODULES).filter(({ id, access, surface }) => {
      const inside = access === 'console' || (access === 'open' && surface === 'console');
      const from = (inside ? docket.admin : docket) as unknown as Record<string, Record<string, unknown>>;
      const camel = (text: string): string => text.replaceAll(/[.-](.)/g, (_, letter: string) => letter.toUpperCase());
      const at = id.lastIndexOf('.');
      return typeof from[camel(id.slice(0, at))]?.[camel(id.slice(at + 1))] !== 'function';
    });
    assert.deepEqual(
      missing.map(({ id }) => id),
      [],
    );
  });

  it('contains every error code that an operation can return', () => {
    for (const [code, status] of Object.entries(ERROR_CODES)) {
      assert.equal(FAULTS[code as keyof typeof FAULTS]?.status, status, code);
    }
    // A path that exists under another method is no answer of an operation.
    const unknown = Object.keys(FAULTS).filter((code) => !Object.hasOwn(ERROR_CODES, code));
    assert.deepEqual(unknown, ['METHOD_NOT_ALLOWED']);
  });
});
