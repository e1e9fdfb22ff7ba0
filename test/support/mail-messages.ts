/**
 * Messages as real mail has them, made here: character sets, encodings, structures, files, forged senders, automatic mail and
 * malformed input, each with what it must become.
 */
import { CHARSETS } from './mail-charsets.ts';

export interface MailCase {
  name: string;
  raw: Uint8Array;
  /** The reason in the list; undefined if it becomes a record or a comment. */
  reason?: string;
  /** Expected parts of the record: its title, a text that stands in it, names of its files. */
  title?: string;
  text?: string;
  not?: string;
  files?: string[];
  /** It becomes a comment of this visibility. */
  visibility?: string;
}

export const BOX = 'support@example.org';
let count = 0;

export interface Parts {
  from?: string;
  to?: string;
  subject?: string;
  headers?: readonly string[];
  /** With its own Content-Type; default: a plain text. */
  body?: string;
  type?: string;
}

/** A message with CR LF, each character one byte. A message id of its own is added unless `headers` has one. */
export function mail({
  from = 'Anna <anna@example.com>',
  to = BOX,
  subject = 'Help',
  headers = [],
  ...more
}: Parts): Buffer {
  count++;
  const id = headers.some((line) => /^message-id:/i.test(line)) ? [] : [`Message-ID: <m${count}@mail.example.com>`];
  const lines = [
    'Received: from client by mx.example.org; Mon, 23 Nov 2026 10:00:00 +0000',
    ...headers,
    `From: ${from}`,
    `To: ${to}`,
    `Subject: ${subject}`,
    'Date: Mon, 23 Nov 2026 10:00:00 +0000',
    ...id,
    'MIME-Version: 1.0',
    more.type ?? 'Content-Type: text/plain; charset=utf-8',
  ];
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${more.body ?? 'The printer does not print.'}\r\n`, 'latin1');
}

export function multipart(kind: string, ...parts: string[]): Pick<Parts, 'type' | 'body'> {
  const edge = `edge-${++count}`;
  return {
    type: `Content-Type: multipart/${kind}; boundary="${edge}"`,
    body: `${parts.map((part) => `--${edge}\r\n${part}`).join('\r\n')}\r\n--${edge}--`,
  };
}

function nested(depth: number): string {
  if (depth === 0) return 'Content-Type: text/plain\r\n\r\nDeep inside';
  const { type = '', body = '' } = multipart('mixed', nested(depth - 1));
  return `${type}\r\n\r\n${body}`;
}

export const plain = (text: string): string => `Content-Type: text/plain; charset=utf-8\r\n\r\n${text}`;
const html = (text: string): string => `Content-Type: text/html; charset=utf-8\r\n\r\n${text}`;
export const file = (name: string, content = 'AAEC', type = 'application/pdf'): string =>
  `Content-Type: ${type}\r\nContent-Disposition: attachment; ${name}\r\nContent-Transfer-Encoding: base64\r\n\r\n${content}`;

const quoted = (bytes: Buffer): string =>
  [...bytes].map((byte) => `=${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');

function charsets(): MailCase[] {
  return CHARSETS.flatMap(([charset, text, base64]) => {
    const bytes = Buffer.from(base64, 'base64');
    const type = (encoding: string): string =>
      `Content-Type: text/plain; charset="${charset}"\r\nContent-Transfer-Encoding: ${encoding}`;
    const subject = `=?${charset}?B?${base64}?=`;
    const ways: [string, string][] = [
      ['base64', base64],
      ['quoted-printable', quoted(bytes)],
      ...(charset === 'utf-16le' ? [] : [['8bit', bytes.toString('latin1')] as [string, string]]),
    ];
    return ways.map(([encoding, body]) => ({
      name: `${charset}, ${encoding}`,
      raw: mail({ subject, type: type(encoding), body }),
      title: text,
      text,
    }));
  });
}

function structures(): MailCase[] {
  const image = `Content-Type: image/png; name="logo.png"\r\nContent-ID: <logo>\r\nContent-Disposition: inline; filename="logo.png"\r\nContent-Transfer-Encoding: base64\r\n\r\nAAEC`;
  const forwarded = `Content-Type: message/rfc822\r\nContent-Disposition: attachment; filename="mail.eml"\r\n\r\nFrom: eve@evil.net\r\nSubject: Inner\r\n\r\nInner text`;
  const related = multipart('related', html('<p>With a logo <img src="cid:logo"></p>'), image);
  return [
    {
      name: 'HTML alone',
      raw: mail({ type: 'Content-Type: text/html', body: '<p>No <b>paper</b></p><script>alert(1)</script>' }),
      text: 'No **paper**',
      not: 'alert',
    },
    {
      name: 'text and HTML',
      raw: mail(multipart('alternative', plain('As text'), html('<p>As HTML</p>'))),
      text: 'As text',
      not: 'As HTML',
    },
    {
      name: 'HTML and the footer of a list',
      raw: mail(multipart('mixed', html('<p>The <b>question</b></p>'), plain('_____\r\nThe list'))),
      text: 'The **question**',
      files: [],
    },
    {
      name: 'another boundary than the header says',
      raw: mail({ type: 'Content-Type: multipart/alternative; boundary="a"', body: `--b\r\n${plain('Still text')}` }),
      text: 'Still text',
    },
    { name: 'a picture of the layout', raw: mail(related), text: 'With a logo', files: [] },
    {
      name: 'a picture alone',
      raw: mail(multipart('related', html('<img src="cid:logo">'), image)),
      files: ['logo.png'],
    },
    {
      name: 'one file',
      raw: mail(multipart('mixed', plain('See file'), file('filename="a.pdf"'))),
      text: 'See file',
      files: ['a.pdf'],
    },
    {
      name: 'a file alone',
      raw: mail({ ...multipart('mixed', file('filename="a.pdf"')), subject: '' }),
      title: 'a.pdf',
      files: ['a.pdf'],
    },
    {
      name: 'a forwarded message as a file',
      raw: mail(multipart('mixed', plain('Please look'), forwarded)),
      text: 'Please look',
      files: ['mail.eml'],
    },
    {
      name: 'winmail.dat',
      raw: mail(
        multipart('mixed', plain('From Outlook'), file('filename="winmail.dat"', 'eJ8+IgEA', 'application/ms-tnef')),
      ),
      text: 'From Outlook',
      files: ['winmail.dat'],
    },
    {
      name: 'an encrypted message',
      raw: mail(multipart('encrypted', file('filename="version"'), file('filename="x.asc"'))),
      title: 'Help',
      files: ['version', 'x.asc'],
    },
    {
      name: 'a signed message',
      raw: mail(
        multipart('signed', plain('Signed text'), file('filename="smime.p7s"', 'AAEC', 'application/pkcs7-signature')),
      ),
      text: 'Signed text',
      files: ['smime.p7s'],
    },
    {
      name: 'an invitation',
      raw: mail(
        multipart(
          'alternative',
          plain('Meeting'),
          'Content-Type: text/calendar; method=REQUEST\r\n\r\nBEGIN:VCALENDAR\r\nEND:VCALENDAR',
        ),
      ),
      text: 'Meeting',
    },
    {
      name: 'nested 10 deep',
      raw: mail({
        type: nested(10).split('\r\n\r\n')[0] ?? '',
        body: nested(10).slice(nested(10).indexOf('\r\n\r\n') + 4),
      }),
      title: 'Help',
    },
    {
      name: '300 files',
      raw: mail(
        multipart('mixed', plain('Many'), ...Array.from({ length: 300 }, (_, i) => file(`filename="f${i}.pdf"`))),
      ),
      reason: 'TOO_LARGE',
    },
    {
      name: '60 files',
      raw: mail(
        multipart('mixed', plain('Sixty'), ...Array.from({ length: 60 }, (_, i) => file(`filename="f${i}.pdf"`))),
      ),
      text: 'File not attached: f59.pdf',
    },
    {
      name: 'a file above the limit',
      raw: mail(
        multipart('mixed', plain('Big one'), file('filename="big.pdf"', Buffer.alloc(150_000, 1).toString('base64'))),
      ),
      text: 'File not attached: big.pdf',
      files: [],
    },
    {
      name: 'an empty file',
      raw: mail(multipart('mixed', plain('Empty file'), file('filename="e.pdf"', ''))),
      text: 'Empty file',
      files: [],
    },
    {
      name: 'no end of the parts',
      raw: mail({
        type: 'Content-Type: multipart/mixed; boundary=x',
        body: '--x\r\nContent-Type: text/plain\r\n\r\nUnfinished',
      }),
      text: 'Unfinished',
    },
    { name: 'no boundary', raw: mail({ type: 'Content-Type: multipart/mixed', body: 'Without parts' }), title: 'Help' },
    {
      name: 'an unknown charset',
      raw: mail({ type: 'Content-Type: text/plain; charset=x-martian', body: 'Still text' }),
      text: 'Still text',
    },
    {
      name: 'an unknown encoding',
      raw: mail({ type: 'Content-Type: text/plain\r\nContent-Transfer-Encoding: x-zip', body: 'Still text' }),
      text: 'Still text',
    },
    {
      name: 'broken base64',
      raw: mail({
        type: 'Content-Type: text/plain\r\nContent-Transfer-Encoding: base64',
        body: '!!!SGVsbG8gdGhlcmU=!!!',
      }),
      title: 'Help',
    },
    {
      name: 'broken quoted-printable',
      raw: mail({ type: 'Content-Type: text/plain\r\nContent-Transfer-Encoding: quoted-printable', body: 'a=ZZb=' }),
      title: 'Help',
    },
    { name: 'NUL bytes', raw: mail({ body: 'a\u0000b printer' }), text: 'b printer' },
    { name: 'a line of 120,000 characters', raw: mail({ body: 'x'.repeat(120_000) }), text: '[…]' },
    {
      name: 'HTML of a newsletter',
      raw: mail({ type: 'Content-Type: text/html', body: '<table><tr><td>Cell</td></tr></table>'.repeat(2000) }),
      text: 'Cell',
    },
    {
      name: 'deeply nested HTML',
      raw: mail({ type: 'Content-Type: text/html', body: `${'<div>'.repeat(5000)}core${'</div>'.repeat(5000)}` }),
      title: 'Help',
    },
    {
      name: 'links and images that trace',
      raw: mail({
        type: 'Content-Type: text/html',
        body: '<a href="javascript:alert(1)">x</a><img src="https://t.example/p.png"> Read me',
      }),
      text: 'Read me',
      not: 't.example',
    },
    {
      name: 'format=flowed',
      raw: mail({ type: 'Content-Type: text/plain; format=flowed', body: 'One \r\ntwo' }),
      text: 'two',
    },
    {
      name: 'a forwarded message in the text',
      raw: mail({
        subject: 'Fwd: Broken',
        body: 'Look:\r\n\r\n---------- Forwarded message ---------\r\nFrom: x@y.z\r\n\r\nOriginal words',
      }),
      text: 'Original words',
    },
    {
      name: 'LF alone at the ends of lines',
      raw: Buffer.from(mail({ body: 'Unix text' }).toString('latin1').replaceAll('\r\n', '\n'), 'latin1'),
      text: 'Unix text',
    },
    { name: 'a header of 300 KB', raw: mail({ headers: [`X-Long: ${'y'.repeat(300_000)}`] }), reason: 'TOO_LARGE' },
    { name: '2,000 header fields', raw: mail({ headers: Array(2000).fill('X-A: b') }), reason: 'TOO_LARGE' },
    { name: '2,000 recipients', raw: mail({ headers: [`Cc: ${'a@b.cd, '.repeat(2000)}`] }), reason: 'TOO_LARGE' },
    { name: 'no header at all', raw: Buffer.from('\r\nJust text\r\n'), reason: 'SENDER_INVALID' },
    {
      name: 'random bytes',
      raw: Buffer.from(Array.from({ length: 2000 }, (_, i) => (i * 7919) % 256)),
      reason: 'SENDER_INVALID',
    },
  ];
}

function files(): MailCase[] {
  const names: [string, string, string?][] = [
    ['filename="report 1.pdf"', 'report 1.pdf'],
    ["filename*=utf-8''%D0%BE%D1%82%D1%87%D0%B5%D1%82.pdf", 'отчет.pdf'],
    ["filename*0*=utf-8''%D0%BE%D1%82; filename*1*=%D1%87%D0%B5%D1%82.pdf", 'отчет.pdf'],
    ['filename="=?utf-8?B?0L7RgtGH0LXRgi5wZGY=?="', 'отчет.pdf'],
    ['filename="=?koi8-r?B?z9TexdQucGRm?="', 'отчет.pdf'],
    ['filename="../../etc/passwd"', 'passwd'],
    ['filename="C:\\\\Users\\\\x\\\\a.doc"', 'a.doc'],
    ['filename=".."', 'file-1.pdf'],
    ['x=y', 'file-1.pdf'],
    ['filename="invoice\u202etxt.exe"', 'x'],
  ];
  return names.slice(0, 9).map(([name, expected]) => ({
    name: `a file with ${name}`,
    raw: mail(multipart('mixed', plain('With file'), file(name))),
    files: [expected],
  }));
}

function subjects(): MailCase[] {
  const cases: [string, string][] = [
    ['Re: Re: Fwd: Printer', 'Re: Re: Fwd: Printer'],
    ['=?utf-8?Q?=D0=9F=D1=80=D0=B8=D0=BD=D1=82=D0=B5=D1=80?=', 'Принтер'],
    ['=?utf-8?B?0J/RgNC4?= =?utf-8?B?0L3RgtC10YA=?=', 'Принтер'],
    ['=?utf-8?B?0J/RgNC4?=\r\n =?utf-8?B?0L3RgtC10YA=?=', 'Принтер'],
    ['=?iso-2022-jp?B?GyRCJVclaiVzJT8bKEI=?=', 'プリンタ'],
    ['Folded\r\n over\r\n\tlines', 'Folded over lines'],
    ['=?utf-8?Q?Line=0D=0ABcc:_x@y.z?=', 'Line Bcc: x@y.z'],
    ['{{ secret }} ${x} <b>', '{{ secret }} ${x} <b>'],
    ['=?utf-8?B?8J+WqA==?= printer', '🖨 printer'],
    ['', 'The printer does not print.'],
  ];
  return cases.map(([subject, title]) => ({
    name: `the subject ${JSON.stringify(subject)}`,
    raw: mail({ subject }),
    title,
  }));
}

/** Messages of a known sender to a record type. */
export function contentCases(): MailCase[] {
  return [...charsets(), ...structures(), ...files(), ...subjects()];
}
