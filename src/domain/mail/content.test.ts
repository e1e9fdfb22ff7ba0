import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checkFilename } from '../attachments/rules.ts';
import { type MailFile, mailFiles, mailText, mailTitle, type ReceivedMail, safeFilename } from './content.ts';

const mail = (more: Partial<ReceivedMail>): ReceivedMail => ({
  subject: 'S',
  text: null,
  html: null,
  files: [],
  ...more,
});
const picture = (isInline: boolean, bytes = 3): MailFile => ({
  filename: 'a.png',
  mediaType: 'image/png',
  content: new Uint8Array(bytes),
  isInline,
});

describe('the text of a mail', () => {
  it('is the plain text, or the HTML as Markdown', () => {
    assert.equal(mailText(mail({ text: ' Hello\r\nworld \r\n', html: '<p>other</p>' }), false), 'Hello\nworld');
    const html = '<p>Hello <b>you</b></p><script>alert(1)</script><img src="https://t.example/x.png"><p>Two</p>';
    assert.equal(mailText(mail({ html }), false), 'Hello **you**\n\nTwo');
    assert.equal(mailText(mail({ text: ' \n', html: '<p>Only HTML</p>' }), false), 'Only HTML');
    assert.equal(mailText(mail({}), true), '');
    assert.equal(mailText(mail({ html: '<style>p{}</style><img src="cid:x">' }), true), '');
  });

  it('has no quoted message in a reply, and keeps it in a new record', () => {
    const text = 'Yes.\n\nOn 20 Nov 2026, at 10:15, Anna <a@b.c> wrote:\n> Really?';
    assert.equal(mailText(mail({ text }), true), 'Yes.');
    assert.equal(mailText(mail({ text }), false), text);
    const html = '<div>Yes.</div><div class="gmail_quote">On Friday, Anna wrote:<blockquote>Really?</blockquote></div>';
    assert.equal(mailText(mail({ html }), true), 'Yes.');
    assert.match(mailText(mail({ html }), false), /Really\?/);
  });

  it('keeps the quotation if nothing else is there', () => {
    assert.match(mailText(mail({ html: '<div class="gmail_quote">Only this</div>' }), true), /Only this/);
  });

  it('can be stored, whatever came', () => {
    const text = mailText(mail({ text: `a\u0000b\ud800c${'e' + '\u0301'.repeat(500)}` }), true);
    assert.ok(text.isWellFormed() && !text.includes('\u0000') && text.length < 20, text);
    const long = mailText(mail({ text: 'x'.repeat(300_000) }), true);
    assert.equal(long.length, 100_000);
    assert.ok(long.endsWith('[…]'));
  });
});

describe('the title of a mail', () => {
  it('is the subject in one line, else the start of the text', () => {
    assert.equal(mailTitle(' Printer\r\n  is\tbroken ', '', []), 'Printer is broken');
    assert.equal(mailTitle(' ', 'Help\nme', []), 'Help me');
    assert.equal(mailTitle('', '', []), '');
    assert.equal(mailTitle('', '', [picture(true)]), 'a.png');
    assert.equal(mailTitle('x'.repeat(1000), '', []).length, 255);
  });
});

describe('files of a mail', () => {
  it('are those that are attached, and inline ones only in a mail without text', () => {
    assert.equal(mailFiles({ files: [picture(true), picture(false), picture(false, 0)] }, 'See').length, 1);
    assert.equal(mailFiles({ files: [picture(true)] }, '').length, 1);
    assert.equal(mailFiles({ files: [picture(true)] }, 'See').length, 0);
  });

  it('have names that attachments accept', () => {
    const names = [
      '../../etc/passwd',
      'C:\\x\\report.pdf',
      '',
      null,
      '..',
      '\u202egnp.exe',
      '\u0000\n',
      'я'.repeat(400),
      '\ud800.txt',
    ];
    for (const name of names) {
      const safe = safeFilename({ filename: name, mediaType: 'application/zip' }, 4);
      assert.equal(checkFilename(safe), safe);
    }
    const named = (filename: string): string => safeFilename({ filename, mediaType: 'application/pdf' }, 0);
    assert.equal(named('../../etc/passwd'), 'passwd');
    assert.equal(named('C:\\x\\report.pdf'), 'report.pdf');
    assert.equal(named('..'), 'file-1.pdf');
    assert.ok(named(`${'a'.repeat(400)}.pdf`).endsWith('.pdf'));
  });
});
