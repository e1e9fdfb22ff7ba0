/** Rich text in the console, apart from the editor. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { imageHandles, withKnownImages } from '../web/src/fields/rich-text-images.ts';

describe('rich text of an earlier version', () => {
  it('is brought back without the images that the record no longer has', () => {
    const image = (src: string): object => ({ type: 'image', attrs: { src } });
    const [kept, gone] = [image(`blob:${'a'.repeat(64)}`), image(`blob:${'b'.repeat(64)}`)];
    const words = { type: 'paragraph', content: [{ type: 'text', text: 'words' }] };
    const quote = (...content: object[]): object => ({ type: 'blockquote', content });
    const past = { type: 'doc', content: [words, gone, quote(gone, kept)] };
    const known = imageHandles([{ type: 'doc', content: [quote(kept)] }, null, undefined]);
    const empty = { type: 'paragraph' };
    assert.deepEqual(withKnownImages(past, known), {
      document: { type: 'doc', content: [words, empty, quote(empty, kept)] },
      removed: 2,
    });
    assert.deepEqual(withKnownImages(null, known), { document: null, removed: 0 });
  });
});
