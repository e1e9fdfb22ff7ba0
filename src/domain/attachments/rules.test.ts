/** Valid content and names, and the headers of a download. */
import type { FaultCode } from '../../lib/fault-codes.ts';
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import { isFault } from '../../lib/fault.ts';
import {
  checkFilename,
  checkMediaType,
  contentDisposition,
  contentHeaders,
  decodeContent,
  requestedRange,
} from './rules.ts';

const faulty = (code: FaultCode, path?: string) => (error: unknown) => {
  assert.ok(isFault(error, code), String(error));
  if (path !== undefined) assert.equal((error.details as { path: string }[])[0]?.path, path);
  return true;
};

describe('attachment rules', () => {
  it('decode strict base64 only', () => {
    for (const size of [1, 2, 3, 4, 100, 1000]) {
      const bytes = randomBytes(size);
      assert.deepEqual(Buffer.from(decodeContent(bytes.toString('base64'), 1000)), bytes);
    }
    const bad = [
      '====',
      '!!!!',
      'YQ==YQ==',
      'data:text/plain;base64,YQ==',
      'YQ',
      'YQ=',
      'YQ===',
      'Y===',
      'YQ= =',
      ' YQ==',
      'YQ==\n',
    ];
    bad.push('YW\r\nJj', 'YR==', 'YWK=', '-_-_', 'YQ==\u0000', 'Ｙ', 'YWJj=', '=YWJ', 'Y Q==', 'YWJjZ', 'é===');
    for (const text of bad)
      assert.throws(() => decodeContent(text, 1000), faulty('INVALID_REQUEST', '/contentBase64'), text);
    assert.throws(() => decodeContent('', 1000), faulty('ATTACHMENT_EMPTY'));
  });

  it('enforce the size limit exactly, and reject far larger input without decoding it', () => {
    for (const limit of [1, 2, 3, 10, 1000]) {
      assert.equal(decodeContent(randomBytes(limit).toString('base64'), limit).length, limit);
      for (const more of [1, 2, 3, 4]) {
        const text = randomBytes(limit + more).toString('base64');
        assert.throws(() => decodeContent(text, limit), faulty('ATTACHMENT_TOO_LARGE', '/contentBase64'));
      }
    }
    assert.throws(() => decodeContent('!'.repeat(10_000_000), 10), faulty('ATTACHMENT_TOO_LARGE'));
  });

  it('keep file names as given', () => {
    const good = [
      'a',
      'Отчёт за май.pdf',
      'e\u0301.txt',
      'a"b;c=%20.html',
      "o'clock (1).txt",
      '報告.doc',
      '👩‍💻.png',
      ' .gitignore ',
      '...',
      'ש\u200fa.txt',
    ];
    good.push('x'.repeat(255), '😀'.repeat(255), 'CON', 'a:b*c?d<e>f|g');
    for (const name of good) assert.equal(checkFilename(name), name);
  });

  it('reject file names that are paths or look like another name', () => {
    const bad = [
      '',
      'x'.repeat(256),
      '😀'.repeat(256),
      'a/b',
      '/etc/passwd',
      '..\\x',
      'a\u0000',
      'a\r\nX: 1',
      'a\tb',
      'a\u007f',
      'a\u0085b',
    ];
    bad.push('exe\u202egpj.txt', 'a\u2066b', '\ud800.txt');
    for (const name of bad)
      assert.throws(() => checkFilename(name), faulty('INVALID_REQUEST', '/filename'), JSON.stringify(name));
  });

  it('separate a media type from its parameters', () => {
    assert.equal(checkMediaType(undefined), 'application/octet-stream');
    assert.equal(checkMediaType('Text/HTML; charset=utf-8'), 'text/html');
    assert.equal(checkMediaType('application/vnd.oasis.opendocument.text'), 'application/vnd.oasis.opendocument.text');
    for (const type of [
      '',
      'html',
      'text/',
      '/x',
      'text/ht ml',
      'a/b/c',
      'text/html\r\nX: 1',
      `a/${'b'.repeat(200)}`,
      'т/т',
    ]) {
      assert.throws(() => checkMediaType(type), faulty('INVALID_REQUEST', '/mediaType'), type);
    }
  });

  it('escape file names in headers', () => {
    assert.equal(contentDisposition('a.txt'), `attachment; filename="a.txt"; filename*=UTF-8''a.txt`);
    assert.equal(
      contentDisposition('Отчёт.pdf'),
      `attachment; filename="_____.pdf"; filename*=UTF-8''%D0%9E%D1%82%D1%87%D1%91%D1%82.pdf`,
    );
    const sly = contentDisposition(`a"; filename*=UTF-8''evil.html`);
    assert.equal(
      sly,
      `attachment; filename="a__ filename*=UTF-8''evil.html"; filename*=UTF-8''a%22%3B%20filename%2A%3DUTF-8%27%27evil.html`,
    );
    for (const name of ['%41', 'a\\b', 'é\u2028', '😀', "'()*!"]) {
      const header = contentDisposition(name);
      assert.match(header, /^[\x20-\x7e]+$/);
      assert.equal(decodeURIComponent(header.slice(header.indexOf("''") + 2)), name);
      assert.equal(header.split('"').length, 3);
    }
  });

  it('serve types that a browser could execute as bytes', () => {
    const of = (mediaType: string): string | undefined =>
      contentHeaders({ originalFilename: 'a', mediaType, sha256: 'f' })['Content-Type'];
    const run = [
      'text/html',
      'image/svg+xml',
      'application/xhtml+xml',
      'text/javascript',
      'application/xml',
      'text/css',
      'x/y',
    ];
    for (const type of [...run, 'application/x-shockwave-flash', 'multipart/mixed', 'text/xml', 'application/wasm']) {
      assert.equal(of(type), 'application/octet-stream', type);
    }
    assert.equal(of('text/plain'), 'text/plain; charset=utf-8');
    assert.equal(of('image/png'), 'image/png');
    assert.equal(of('constructor'), 'application/octet-stream');
  });

  it('parse a single range', () => {
    const of = (header: string | undefined): unknown => requestedRange(header, 10);
    assert.deepEqual(of('bytes=0-0'), { start: 0, end: 0 });
    assert.deepEqual(of('bytes=3-5'), { start: 3, end: 5 });
    assert.deepEqual(of('bytes=3-'), { start: 3, end: 9 });
    assert.deepEqual(of('bytes=3-999'), { start: 3, end: 9 });
    assert.deepEqual(of('bytes=-4'), { start: 6, end: 9 });
    assert.deepEqual(of('bytes=-999'), { start: 0, end: 9 });
    const whole = ['', 'bytes=', 'bytes=-', 'bytes=5-3', 'bytes=0-1,3-4', 'lines=0-1', 'bytes=a-b', 'bytes=0x1-2'];
    for (const header of [undefined, ...whole, 'bytes=99-98', 'bytes=1.5-2'])
      assert.equal(of(header), undefined, String(header));
    for (const header of ['bytes=-0', 'bytes=10-', 'bytes=10-11', 'bytes=99999999999999999999-'])
      assert.throws(
        () => of(header),
        { code: 'RANGE_NOT_SATISFIABLE', headers: { 'Content-Range': 'bytes */10' } },
        header,
      );
  });
});
