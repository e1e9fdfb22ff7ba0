/** Helpers for tests of rich text: build and check documents. */
import assert from 'node:assert/strict';
import { Node } from 'prosemirror-model';
import { type RichNode, richTextSchema } from '../../src/domain/metadata/rich-text-schema.ts';
import { checkRichText } from '../../src/domain/metadata/rich-text.ts';

export const doc = (...content: unknown[]): unknown => ({ type: 'doc', content });
export const paragraph = (...content: unknown[]): unknown => ({ type: 'paragraph', content });
export const text = (value: string, ...marks: unknown[]): unknown =>
  marks.length > 0 ? { type: 'text', text: value, marks } : { type: 'text', text: value };
export const image = (src: unknown, more: object = {}): unknown => ({ type: 'image', attrs: { src, ...more } });
export const link = (href: unknown, more: object = {}): unknown => ({ type: 'link', attrs: { href, ...more } });

/** Returns the stored form. Checks that it is stable when read again and valid for ProseMirror. */
export function stored(input: unknown): RichNode | null {
  const checked = checkRichText(input, '/v');
  assert.ok(checked.ok, JSON.stringify(checked));
  if (checked.stored !== null) {
    assert.deepEqual(checkRichText(checked.stored, '/v'), { ok: true, stored: checked.stored, images: [] });
    Node.fromJSON(richTextSchema, checked.stored).check();
  }
  return checked.stored;
}

/** Path and code of each problem. */
export function problems(input: unknown): string[] {
  const checked = checkRichText(input, '/v');
  assert.ok(!checked.ok, JSON.stringify(checked).slice(0, 200));
  return checked.problems.map(({ path, code }) => `${path} ${code}`);
}
