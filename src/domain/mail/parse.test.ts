import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { mail, multipart, plain } from '../../../test/support/mail-messages.ts';
import { parseMailTask } from './parse.ts';
import { namedCharsets, toUtf8 } from './unlabelled.ts';

const TEXT = 'Добрый день, принтер не печатает';
const KOI8 = Buffer.from('5MXMzyDP3sXO2A==', 'base64');
const html = (text: string): string => `Content-Type: text/html; charset=utf-8\r\n\r\n${text}`;

/** The text in Windows-1251, one character for each byte. */
const cp1251 = [...TEXT].map((one) => cp1251Byte(one)).join('');
function cp1251Byte(letter: string): string {
  const code = letter.charCodeAt(0);
  return code < 128 ? letter : String.fromCharCode(code - 0x410 + 0xc0);
}

async function content(raw: Uint8Array) {
  const parsed = await parseMailTask.run(raw);
  assert.ok(parsed.kind === 'parsed', parsed.kind);
  return { ...parsed.content, subject: parsed.subject };
}

describe('messages with 8-bit text that name no charset', () => {
  it('are read as Cyrillic or Western text', async () => {
    const type = 'Content-Type: text/plain';
    const russian = await content(mail({ subject: cp1251, body: cp1251, type }));
    assert.deepEqual([russian.title, russian.text], [TEXT, TEXT]);
    const french = await content(mail({ subject: 'Réponse reçue', body: 'Déjà vu à Paris', type }));
    assert.deepEqual([french.title, french.text], ['Réponse reçue', 'Déjà vu à Paris']);
    assert.equal(toUtf8(KOI8).toString(), 'Дело очень');
  });

  it('are read as the charset that the message names elsewhere', async () => {
    const type = 'Content-Type: text/plain; charset=windows-1250';
    const polish = await content(mail({ subject: '\u008cwie\u00bfy', body: '\u008cwie\u00bfy', type }));
    assert.deepEqual([polish.title, polish.text], ['Świeży', 'Świeży']);
  });

  it('keep what is encoded rightly', async () => {
    const subject = `=?koi8-r?B?${KOI8.toString('base64')}?=`;
    const utf8 = Buffer.from(TEXT).toString('latin1');
    const two = await content(mail({ subject, ...multipart('mixed', plain(utf8), html(cp1251)) }));
    assert.equal(two.title, 'Дело очень');
    assert.ok(two.text.startsWith(TEXT), two.text);
    const word = `=?iso-8859-1?Q?Fr\u00f6sche?=`;
    assert.equal((await content(mail({ subject: word }))).title, 'Frösche');
    assert.deepEqual(namedCharsets(Buffer.from('charset="UTF-8"; x; charset = koi8-r; charset=utf-8')), [
      'utf-8',
      'koi8-r',
    ]);
  });
});

describe('texts of several parts', () => {
  it('are all kept, in their order', async () => {
    const parts = [html('<p>First</p>'), plain('Second <b>'), html('<p><i>Third</i></p>')];
    const { text } = await content(mail(multipart('mixed', ...parts)));
    assert.match(text, /First[^]*Second &lt;b>[^]*\*Third\*/);
  });

  it('are not doubled by alternatives', async () => {
    const { type = '', body = '' } = multipart('alternative', plain('As text'), html('<p>As HTML</p>'));
    const { text } = await content(mail(multipart('mixed', `${type}\r\n\r\n${body}`, plain('Footer'))));
    assert.match(text, /^As text\s+Footer$/);
  });

  it('are HTML if the plain one is blank', async () => {
    const { text } = await content(mail(multipart('mixed', html('<p>The <b>text</b></p>'), plain(' \r\n'))));
    assert.equal(text, 'The **text**');
  });
});
