import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { mail, multipart, plain } from '../../../test/support/mail-messages.ts';
import { parseMailTask } from './parse.ts';
import { readTnef, TnefError } from './tnef.ts';

const u16 = (value: number): Buffer => Buffer.from(Uint16Array.of(value).buffer);
const u32 = (value: number): Buffer => Buffer.from(Uint32Array.of(value).buffer);
const padded = (value: Buffer): Buffer => Buffer.concat([value, Buffer.alloc((4 - (value.length % 4)) % 4)]);

function attribute(level: number, id: number, value: Buffer): Buffer {
  return Buffer.concat([Buffer.of(level), u32(id), u32(value.length), value, u16(0)]);
}
/** A property whose value has a length. */
function property(type: number, id: number, value: Buffer): Buffer {
  return Buffer.concat([u16(type), u16(id), u32(1), u32(value.length), padded(value)]);
}
function properties(...all: Buffer[]): Buffer {
  return Buffer.concat([u32(all.length), ...all]);
}
const tnef = (...attributes: Buffer[]): Buffer => Buffer.concat([u32(0x22_3e_9f_78), u16(1), ...attributes]);
const ofMessage = (...all: Buffer[]): Buffer => attribute(1, 0x6_90_03, properties(...all));
const ofFile = (...all: Buffer[]): Buffer => attribute(2, 0x6_90_05, properties(...all));
const begin = attribute(2, 0x6_90_02, Buffer.alloc(14));
const title = (name: Buffer): Buffer => attribute(2, 0x1_80_10, name);
const data = (content: string): Buffer => attribute(2, 0x6_80_0f, Buffer.from(content));
const unicode = (text: string): Buffer => Buffer.from(`${text}\0`, 'utf16le');

const named = property(0x1f, 0x37_07, unicode('отчёт за ноябрь.pdf'));
const russian = Buffer.from('f2e5eaf1f22e74787400', 'hex');
const SAMPLE = tnef(
  attribute(1, 0x6_90_07, Buffer.concat([u32(1251), u32(0)])),
  ofMessage(
    // A named property, several numbers, and the body.
    Buffer.concat([u16(0x03), u16(0x80_01), Buffer.alloc(16), u32(1), u32(5), padded(Buffer.from('Width')), u32(7)]),
    Buffer.concat([u16(0x10_03), u16(0x12_34), u32(2), u32(1), u32(2)]),
    property(0x1e, 0x10_00, Buffer.from('c4e5ebee00', 'hex')),
  ),
  begin,
  title(Buffer.from('OTCHET~1.PDF\0')),
  data('first'),
  ofFile(named, property(0x1e, 0x37_0e, Buffer.from('application/pdf\0'))),
  begin,
  title(russian),
  data('second'),
);

describe('winmail.dat', () => {
  it('gives text and files with their names', () => {
    const { text, files, isComplete } = readTnef(SAMPLE);
    assert.deepEqual([text, isComplete], ['Дело', true]);
    assert.deepEqual(
      files.map(({ name, mediaType, content }) => [name, mediaType, Buffer.from(content).toString()]),
      [
        ['отчёт за ноябрь.pdf', 'application/pdf', 'first'],
        ['текст.txt', null, 'second'],
      ],
    );
  });

  it('gives the text and files of messages inside, and notes what it leaves out', () => {
    const inside = (value: Buffer): Buffer =>
      tnef(begin, ofFile(property(0x0d, 0x37_01, Buffer.concat([Buffer.alloc(16), value])), named));
    const { files, isComplete } = readTnef(inside(SAMPLE));
    assert.deepEqual(
      files.map(({ name }) => name),
      ['отчёт за ноябрь.pdf.txt', 'отчёт за ноябрь.pdf', 'текст.txt'],
    );
    assert.ok(isComplete);
    assert.equal(readTnef(inside(Buffer.from('a drawing'))).isComplete, false);
    assert.equal(readTnef(tnef(ofMessage(property(0x01_02, 0x10_09, Buffer.alloc(20))))).hasOtherBody, true);
    let deep = SAMPLE;
    for (let depth = 0; depth < 10; depth++) deep = inside(deep);
    assert.equal(readTnef(deep).isComplete, false);
  });

  it('fails with one kind of error for any input, and gives no more than it got', () => {
    const check = (bytes: Uint8Array): void => {
      try {
        const { files } = readTnef(bytes);
        const size = files.reduce((sum, { content }) => sum + content.byteLength, 0);
        assert.ok(size <= bytes.byteLength * 2 && files.length <= 400);
      } catch (error) {
        assert.ok(error instanceof TnefError, String(error));
      }
    };
    fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => check(tnef(Buffer.from(bytes)))));
    fc.assert(
      fc.property(fc.nat(SAMPLE.length - 1), fc.uint8Array({ minLength: 1, maxLength: 8 }), (at, bytes) => {
        const changed = Buffer.from(SAMPLE);
        changed.set(bytes.subarray(0, SAMPLE.length - at), at);
        check(changed);
        check(SAMPLE.subarray(0, at));
      }),
      { numRuns: 2000 },
    );
    assert.throws(() => readTnef(tnef(...Array.from({ length: 201 }, () => begin))), TnefError);
    assert.throws(() => readTnef(Buffer.concat([tnef(), Buffer.of(1), u32(1), u32(0xff_ff_ff_ff)])), TnefError);
  });

  it('is unpacked where it stands in a message, and stays if it cannot be read', async () => {
    const part = (content: Buffer): string =>
      `Content-Type: application/ms-tnef; name="winmail.dat"\r\nContent-Transfer-Encoding: base64\r\n\r\n${content.toString('base64')}`;
    const filesOf = async (content: Buffer, text: string) => {
      const parsed = await parseMailTask.run(mail(multipart('mixed', plain(text), part(content))));
      assert.ok(parsed.kind === 'parsed');
      return [parsed.content.text, ...parsed.content.files.map(({ filename }) => filename)];
    };
    assert.deepEqual(await filesOf(SAMPLE, 'See files'), ['See files', 'отчёт за ноябрь.pdf', 'текст.txt']);
    assert.deepEqual(await filesOf(SAMPLE, ''), ['Дело', 'отчёт за ноябрь.pdf', 'текст.txt']);
    assert.deepEqual(await filesOf(SAMPLE.subarray(0, 100), 'See files'), ['See files', 'winmail.dat']);
    assert.deepEqual(await filesOf(tnef(), 'Nothing in it'), ['Nothing in it', 'winmail.dat']);
    const body = ofMessage(property(0x01_02, 0x10_09, Buffer.alloc(20)));
    const rtf = tnef(body, begin, title(Buffer.from('a.txt\0')), data('x'));
    assert.deepEqual(await filesOf(rtf, ''), ['', 'a.txt', 'winmail.dat']);
    assert.deepEqual(await filesOf(rtf, 'See file'), ['See file', 'a.txt']);
  });
});
