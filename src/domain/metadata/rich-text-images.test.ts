import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { doc, image, paragraph, problems, text } from '../../../test/support/rich-text-values.ts';
import { checkRichText } from './rich-text.ts';
import { extractInlineImages, imageHandles } from './rich-text-images.ts';
import type { RichNode } from './rich-text-schema.ts';

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const GIF = Buffer.from('R0lGODlhAQABAAAAACw=', 'base64');
const JPEG = Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 16]);
const WEBP = Buffer.from('RIFF\x04\x00\x00\x00WEBP', 'latin1');
const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
const dataUrl = (mediaType: string, bytes: Buffer): string => `data:${mediaType};base64,${bytes.toString('base64')}`;

describe('inline images', () => {
  it('are moved from the document to the blob store', () => {
    const input = doc(
      image(dataUrl('image/png', PNG), { alt: 'P' }),
      { type: 'blockquote', content: [image(dataUrl('image/gif', GIF)), image(dataUrl('image/png', PNG))] },
      image(dataUrl('image/jpeg', JPEG)),
      image(dataUrl('IMAGE/WEBP', WEBP).replace('data:', 'data:')),
      image(`blob:${'0'.repeat(64)}`),
    );
    const checked = checkRichText(input, '/v');
    assert.ok(checked.ok, JSON.stringify(checked));
    assert.deepEqual(
      checked.images.map(({ mediaType }) => mediaType),
      ['image/png', 'image/gif', 'image/jpeg', 'image/webp'],
    );
    assert.deepEqual(checked.images[0], { sha256: sha256(PNG), mediaType: 'image/png', bytes: PNG });
    assert.ok(!JSON.stringify(checked.stored).includes('base64'));
    assert.deepEqual(imageHandles(checked.stored as RichNode), [
      ...checked.images.map((one) => one.sha256),
      '0'.repeat(64),
    ]);
    assert.deepEqual(checked.stored?.content?.[0], { type: 'image', attrs: { src: `blob:${sha256(PNG)}`, alt: 'P' } });
  });

  it('leave the given document unchanged', () => {
    const given = doc(image(dataUrl('image/png', PNG))) as RichNode;
    const before = structuredClone(given);
    assert.ok(extractInlineImages(given).ok);
    assert.deepEqual(given, before);
  });

  const wrong: [name: string, src: string][] = [
    ['another type', dataUrl('image/svg+xml', Buffer.from('<svg/>'))],
    ['HTML', dataUrl('text/html', Buffer.from('<b>'))],
    ['a type that the content has not', dataUrl('image/png', GIF)],
    ['content that is no image', dataUrl('image/png', Buffer.from('<script>alert(1)</script>'))],
    ['parameters', `data:image/png;charset=utf-8;base64,${PNG.toString('base64')}`],
    ['no base64', `data:image/png,${PNG.toString('latin1')}`],
    ['nothing', 'data:image/png;base64,'],
    ['broken base64', `${dataUrl('image/png', PNG)}!`],
    ['base64 in two parts', `${dataUrl('image/gif', GIF)}YQ==`],
    ['missing padding', dataUrl('image/gif', GIF).replace(/=+$/, '')],
    [
      'the alphabet of URLs',
      dataUrl('image/png', Buffer.concat([PNG, Buffer.from([0xfb, 0xff])]))
        .replace(/\+/g, '-')
        .replace(/\/(?=[^/]*$)/, '_'),
    ],
    ['more than 2 MiB', dataUrl('image/gif', Buffer.concat([GIF, Buffer.alloc(2_097_152 - GIF.length + 1)]))],
  ];
  for (const [name, src] of wrong) {
    it(`rejects ${name}`, () =>
      assert.deepEqual(problems(doc(paragraph(text('x')), image(src))), ['/v/content/1/attrs/src INVALID_IMAGE']));
  }

  it('may have exactly 2 MiB and do not count against the document size', () => {
    const full = (index: number): string =>
      dataUrl('image/gif', Buffer.concat([GIF, Buffer.alloc(2_097_152 - GIF.length, index)]));
    const checked = checkRichText(doc(image(full(1)), image(full(2)), image(full(3))), '/v');
    assert.ok(checked.ok && checked.images.length === 3);
  });

  it('are limited in number', () => {
    assert.deepEqual(problems(doc(...Array.from({ length: 101 }, () => image(`blob:${'0'.repeat(64)}`)))), [
      '/v TOO_MANY',
    ]);
  });
});
