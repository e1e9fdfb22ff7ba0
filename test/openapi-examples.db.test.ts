/** The examples of the OpenAPI documents are real: a service accepts every request as written and responds accordingly. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readExamples } from '../src/contract/examples.ts';
import { recordExamples } from './support/examples.ts';

/** The value without what differs from run to run: which members it has, and of which type. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shapeOf);
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
    return Object.fromEntries(members.map(([name, part]) => [isId(name) ? 'id' : name, shapeOf(part)]));
  }
  return value === null ? null : typeof value;
}

const isId = (text: string): boolean => /^[0-9a-f]{8}-[0-9a-f-]{27}$/.test(text);

describe('examples of the OpenAPI documents', () => {
  it('match real requests and responses', async () => {
    const recorded = await recordExamples();
    const written = readExamples();
    const known = new Set([...recorded.keys(), ...Object.keys(written)]);
    for (const id of known) {
      assert.deepEqual(shapeOf(written[id]), shapeOf(recorded.get(id)), `${id}: run npm run openapi:examples`);
    }
  });
});
