import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { withoutQuotedText } from './quoting.ts';
import { withoutQuotedHtml } from './quoting-html.ts';
import { processorMs } from '../../../test/support/processor-time.ts';

const ANSWER = 'It works now.\n\nThank you!';

/** What clients put below an answer. */
const BELOW: readonly [string, string][] = [
  ['Gmail', 'On Fri, Nov 20, 2026 at 10:15 AM Anna Petrova <anna@example.com> wrote:\n\n> Does it work?\n> Anna'],
  [
    'Gmail, wrapped',
    'On Fri, Nov 20, 2026 at 10:15 AM Anna Petrova with a long name\n<anna@example.com> wrote:\n> Does it?',
  ],
  ['Gmail in Russian', 'пт, 20 нояб. 2026 г. в 10:15, Анна Петрова <anna@example.com>:\n\n> Работает?'],
  ['Apple Mail', 'On 20 Nov 2026, at 10:15, Anna Petrova <anna@example.com> wrote:\n> Does it work?'],
  ['Apple Mail in Russian', '20 нояб. 2026 г., в 10:15, Анна Петрова <anna@example.com> написал(а):\n> Работает?'],
  ['Thunderbird', 'On 11/20/26 10:15, Anna Petrova wrote:\n> Does it work?\n>\n> Anna'],
  ['Thunderbird in Russian', '20.11.2026 10:15, Анна Петрова пишет:\n> Работает?'],
  ['Yandex', '20.11.2026, 10:15, "Анна Петрова" <anna@example.com>:\n> Работает?'],
  ['Mail.ru', 'Пятница, 20 ноября 2026, 10:15 +03:00 от Анна Петрова <anna@example.com>:\n\nРаботает?\nАнна'],
  ['Thunderbird in German', 'Am 20.11.26 um 10:15 schrieb Anna Petrova:\n> Geht es?'],
  ['Gmail in German', 'Am Fr., 20. Nov. 2026 um 10:15 Uhr schrieb Anna <\nanna@example.com>:\n\n> Geht es?'],
  ['Gmail in French', 'Le ven. 20 nov. 2026 à 10:15, Anna <anna@example.com> a écrit :\n\n> Ça marche ?'],
  ['Gmail in Italian', 'Il giorno ven 20 nov 2026 Anna <anna@example.com>\nha scritto:\n> Funziona?'],
  ['Gmail in Spanish', 'El vie, 20 nov 2026, Anna <anna@example.com> escribió:\n> ¿Funciona?'],
  ['Outlook in German', 'Von: Anna <a@b.c>\nGesendet: Freitag\nAn: Desk\nBetreff: Re\n\nGeht es?'],
  ['Yahoo in French', 'De : Anna <a@b.c>\n À : Desk\n Envoyé le : Vendredi\n Objet : Re\n\nÇa marche ?'],
  ['Zoho', '---- On Fri, 20 Nov 2026 10:15:00 +0000 Anna <a@b.c> wrote ----\n\nDoes it work?'],
  ['Outlook', '-----Original Message-----\nFrom: Anna\nSent: Friday\n\nDoes it work?'],
  ['Outlook in Russian', '-----Исходное сообщение-----\nОт: Анна\n\nРаботает?'],
  [
    'Outlook with fields',
    '________________________________\nFrom: Anna <a@b.c>\nSent: Friday 10:15\nTo: Desk\nSubject: Re\n\nDoes it?',
  ],
  ['Outlook with fields in Russian', 'От: Анна\nОтправлено: 20 ноября 2026\nКому: Служба\nТема: Принтер\n\nРаботает?'],
  ['Outlook in bold', '*From:* Anna\n*Date:* Friday\n*To:* Desk\n\nDoes it?'],
  ['our own line', '##- Please write your reply above this line -##\n\nA comment was added.'],
  ['our own line in Russian', '##- Пишите ответ над этой строкой -##\n\nДобавлен комментарий.'],
  ['quoted lines alone', '> Does it work?\n>> Earlier'],
];

describe('quoted text', () => {
  for (const [client, below] of BELOW) {
    it(`is cut below the answer: ${client}`, () => {
      assert.equal(withoutQuotedText(`${ANSWER}\n\n${below}\n`), ANSWER);
      assert.equal(withoutQuotedText(`${ANSWER}\r\n\r\n${below.replaceAll('\n', '\r\n')}`), ANSWER);
    });
  }

  it('is cut above the answer', () => {
    const quoted = 'On 20 Nov 2026, at 10:15, Anna <anna@example.com> wrote:\n> Does it work?\n> Anna';
    assert.equal(withoutQuotedText(`${quoted}\n\n${ANSWER}`), ANSWER);
  });

  it('stays where answers stand between its lines', () => {
    const text =
      'Hello,\n\nOn 20 Nov 2026, at 10:15, Anna <anna@example.com> wrote:\n> Does it work?\nYes.\n> Since when?\nToday.';
    assert.equal(withoutQuotedText(text), text);
    const unannounced = '> Does it work?\nYes.\n> Since when?\nToday.';
    assert.equal(withoutQuotedText(unannounced), unannounced);
  });

  it('stays in forwarded messages, and text that only looks similar stays', () => {
    for (const text of [
      'See below.\n\n---------- Forwarded message ---------\nFrom Anna, on Friday\n\nHelp!',
      'From: the warehouse\nwe need two printers.',
      'Steps at 10:15 on 20.11.2026:\n1. Start\n2. Crash',
      'The log wrote:\nerror 5',
      'Анна написала:\nпомогите',
      'Prices: 5 > 3',
      'Meeting on Nov 20, 2026:\nbring laptops',
    ]) {
      assert.equal(withoutQuotedText(text), text);
    }
  });

  it('stays if nothing else would remain', () => {
    assert.equal(withoutQuotedText('\n> Does it work?\n'), '> Does it work?');
    const all = 'On 20 Nov 2026, at 10:15, Anna <a@b.c> wrote:\n> Does it work?';
    assert.equal(withoutQuotedText(all), all);
    assert.equal(withoutQuotedText('  \n '), '');
  });

  it('never removes everything, and what remains stands in the text', () => {
    const pieces = fc.constantFrom(
      '> q',
      'own',
      '',
      'On 20 Nov 2026, at 10:15, A <a@b.c> wrote:',
      'From: a',
      'To: b',
      'Date: c',
      '-----Original Message-----',
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 12 }), (lines) => {
        const text = lines.join('\n');
        const kept = withoutQuotedText(text);
        assert.equal(kept === '', text.trim() === '');
        let at = 0;
        for (const line of kept.split('\n').filter((one) => one !== '')) {
          at = (lines as string[]).indexOf(line, at) + 1;
          assert.ok(at > 0);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('is found in linear time', () => {
    const took = processorMs(() => {
      withoutQuotedText('On 20 Nov 2026 wrote\n'.repeat(20_000));
      withoutQuotedText(`From: x\n${'a'.repeat(1_000_000)}`);
      withoutQuotedText('> a\nb\n'.repeat(50_000));
      withoutQuotedText(`${'a@'.repeat(240)}:\n`.repeat(500));
    });
    assert.ok(took < 3000, `took ${took} ms`);
  });
});

describe('quoted HTML', () => {
  const CASES: readonly [string, string][] = [
    [
      'Gmail',
      '<div class="gmail_quote gmail_quote_container"><div class="gmail_attr">On Friday:</div><blockquote>Q</blockquote></div>',
    ],
    ['Apple Mail', '<blockquote type="cite"><div>Q<br></div></blockquote>'],
    [
      'Thunderbird',
      '<div class="moz-cite-prefix">Anna wrote:</div><blockquote type="cite" cite="mid:x">Q</blockquote>',
    ],
    ['Yahoo', '<div id="y" class="yahoo_quoted"><div>Q</div></div>'],
    [
      'Outlook on the web',
      '<div id="appendonsend"></div><hr><div id="divRplyFwdMsg"><b>From:</b> Anna</div><div>Q</div>',
    ],
    [
      'Outlook',
      '<div><div style="border:none;border-top:solid #E1E1E1 1.0pt;padding:3.0pt 0cm 0cm 0cm"><p><b>From:</b> A</p></div></div><p>Q</p>',
    ],
    ['Proton Mail', '<div class="protonmail_quote">Anna wrote: <blockquote>Q</blockquote></div>'],
  ];
  for (const [client, below] of CASES) {
    it(`is cut: ${client}`, () => {
      const kept = withoutQuotedHtml(`<div>A &amp; <b>B</b></div>${below}`);
      assert.ok(kept.startsWith('<div>A &amp; <b>B</b></div>'), kept);
      assert.ok(!/Q|From|wrote|Friday/.test(kept), kept);
    });
  }

  it('leaves text behind the quotation, ordinary quotations and forwarded messages', () => {
    assert.equal(withoutQuotedHtml('<blockquote type="cite">Q</blockquote><p>A</p>'), '<p>A</p>');
    for (const html of [
      '<blockquote>said <b>he</b></blockquote>',
      '<div class="gmail_quote"><div class="gmail_attr">---------- Forwarded message ---------<br></div>F</div>',
      '<p>plain</p',
      '',
    ]) {
      assert.equal(withoutQuotedHtml(html), html);
    }
  });

  it('is found in linear time, also in malformed HTML', () => {
    const took = processorMs(() => {
      const deep = '<div>'.repeat(100_000);
      assert.equal(withoutQuotedHtml(deep), deep);
      withoutQuotedHtml('</b><blockquote type=cite>x</blockquote>'.repeat(20_000));
      withoutQuotedHtml(`<div class="${'gmail_quot '.repeat(50_000)}">`);
    });
    assert.ok(took < 4000, `took ${took} ms`);
  });
});
