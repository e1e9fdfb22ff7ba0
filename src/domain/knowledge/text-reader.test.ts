import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { Fault } from '../../lib/fault.ts';
import { readText } from './text.ts';
import { TextReader } from './text-reader.ts';

const GIF = 'data:image/gif;base64,R0lGODlhAQABAAAAADs=';
/** Takes the reader of Markdown a time that grows with the square of its length. */
const HOSTILE = '<http://'.repeat(25_000);

describe('TextReader', () => {
  const readers: TextReader[] = [];
  const reader = (limits: ConstructorParameters<typeof TextReader>[0] = {}): TextReader => {
    const made = new TextReader(limits);
    readers.push(made);
    return made;
  };
  after(() => Promise.all(readers.map((one) => one.close())));

  it('reads a long text as a short one is read', async () => {
    const texts = reader({ shortest: 0 });
    for (const given of [
      { body: '# Head\n\nSome *text* with a [link](https://example.org), an <b>element</b> and Ёлка\n' },
      { body: `![picture](${GIF})` },
      { body: ' ' },
      { body: 'a\u0000b' },
      { bodyDocument: { type: 'doc', content: [{ type: 'paragraph', content: [{ type: 'text', text: 'x' }] }] } },
      { bodyDocument: { type: 'nothing' } },
      { bodyDocument: null },
    ]) {
      assert.deepEqual(plain(await texts.read(given)), plain(readText(given)), JSON.stringify(given));
    }
  });

  it('refuses what takes too long, lets everything else go on meanwhile, and reads the next', async () => {
    const texts = reader({ limitMs: 700 });
    let turns = 0;
    const timer = setInterval(() => turns++, 20);
    const hostile = texts.read({ body: HOSTILE });
    const next = texts.read({ body: 'word '.repeat(2000) });
    const refused = await hostile;
    clearInterval(timer);
    assert.deepEqual(refused.ok === false && refused.problems.map(({ path, code }) => [path, code]), [
      ['/body', 'TOO_COMPLEX'],
    ]);
    assert.ok(turns > 5, `the loop turned ${turns} times`);
    assert.ok((await next).ok);
  });

  it('lets a bounded number wait', async () => {
    const texts = reader({ shortest: 0, mostWaiting: 2 });
    const first = [texts.read({ body: 'a' }), texts.read({ body: 'b' })];
    await assert.rejects(texts.read({ body: 'c' }), (error) => error instanceof Fault && error.code === 'OVERLOADED');
    assert.deepEqual(
      (await Promise.all(first)).map(({ ok }) => ok),
      [true, true],
    );
    assert.ok((await texts.read({ body: 'd' })).ok);
  });
});

/** Bytes are bytes, whatever class they came in. */
function plain(read: ReturnType<typeof readText>): unknown {
  if (!read.ok) return read;
  return { ...read, images: read.images.map((image) => ({ ...image, bytes: [...image.bytes] })) };
}
