import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { doc, image, link, paragraph, stored, text } from '../../../test/support/rich-text-values.ts';
import { checkMarkdown, isPlainMarkdown, markdownOf } from './rich-text-markdown.ts';
import { checkRichText } from './rich-text.ts';
import type { RichNode } from './rich-text-schema.ts';
import { processorMs } from '../../../test/support/processor-time.ts';

const GIF = 'data:image/gif;base64,R0lGODlhAQABAAAAACw=';
const HANDLE = `blob:${'ab'.repeat(32)}`;

function read(markdown: string): RichNode | null {
  const checked = checkMarkdown(markdown, '/body');
  assert.ok(checked.ok, JSON.stringify(checked));
  return checked.stored;
}

const words = (node: RichNode | null): string =>
  node === null ? '' : (node.text ?? (node.content ?? []).map(words).join(node.type === 'paragraph' ? '' : '|'));

describe('Markdown', () => {
  const cases: [markdown: string, written: string][] = [
    ['Простой текст.', 'Простой текст.'],
    ['# A\n\n###### B', '# A\n\n###### B'],
    ['A\n===\n\nB\n---', '# A\n\n## B'],
    ['**b** *i* ~~s~~ `c` <u>u</u>', '**b** *i* ~~s~~ `c` <u>u</u>'],
    ['__b__ _i_', '**b** *i*'],
    ['***both*** **a*b*c**', '***both*** **a*b*c**'],
    ['one\ntwo  \nthree\\\nfour', 'one two\\\nthree\\\nfour'],
    ['* a\n* b\n    * c', '- a\n- b\n  - c'],
    ['5) a\n6) b', '5. a\n6. b'],
    ['- a\n\n- b\n\n  c', '- a\n- b\n\n  c'],
    ['- a\n\n* b', '- a\n\n<!-- -->\n\n- b'],
    ['> a\n> > b', '> a\n>\n> > b'],
    ['```js\na\n\n  b\n```', '```js\na\n\n  b\n```'],
    ['    indented', '```\nindented\n```'],
    ['````\n```\n````', '````\n```\n````'],
    ['***', '---'],
    ['a|b\n-|-\n1|2', '| a | b |\n| --- | --- |\n| 1 | 2 |'],
    ['| a |\n|---|\n| x \\| y<br>z |', '| a |\n| --- |\n| x \\| y<br>z |'],
    ['[a](https://a.org/x_(y)?b=1&c=2 "t")', '[a](<https://a.org/x_(y)?b=1&c=2>)'],
    ['<https://a.org>', '[https://a.org](<https://a.org>)'],
    ['[a]: https://a.org\n\n[a]', '[a](<https://a.org>)'],
    ['`` a`b ``', '``a`b``'],
    ['1\\. not a list', '1\\. not a list'],
    ['\\# not a heading', '\\# not a heading'],
    ['a &lt; b &amp; c &amp;lt;', 'a &lt; b & c &amp;lt;'],
    [`![logo](${HANDLE})`, `![logo](${HANDLE})`],
    ['text ![far](https://a.org/i.png) text', 'text [far](<https://a.org/i.png>) text'],
    [
      '<table><tr><td colspan=2>a<p>b</td></tr></table>',
      '<table><tr><td colspan="2"><p>a</p><p>b</p></td></tr></table>',
    ],
    ['<ul><li>a</ul>', '- a'],
    ['<b>bold</b> and <font color="red">red</font>', '**bold** and red'],
    ['', ''],
  ];
  for (const [markdown, written] of cases) {
    it(`parses ${JSON.stringify(markdown).slice(0, 60)} and writes it again`, () => {
      const document = read(markdown);
      const said = document === null ? '' : markdownOf(document);
      assert.equal(said, written);
      assert.deepEqual(read(said), document);
    });
  }

  it('extracts images', () => {
    const checked = checkMarkdown(`a\n\n![x](${GIF})`, '');
    assert.ok(checked.ok);
    assert.equal(checked.images.length, 1);
    assert.deepEqual(words(checked.stored), 'a|');
  });

  it('keeps text in angle brackets that is not HTML', () => {
    assert.equal(
      words(read('Press <Enter>, give <your name> and <имя>.')),
      'Press <Enter>, give <your name> and <имя>.',
    );
    assert.equal(words(read('<username>\n\nnext')), '<username>|next');
  });

  it('removes active content', () => {
    const hostile = [
      '<script>alert(1)</script>',
      'a <script>alert(1)</script> b',
      '<script>\n\nalert(1)\n\n</script>',
      '<SCRIPT SRC=//evil></SCRIPT>',
      '<img src=x onerror=alert(1)>',
      '<svg onload=alert(1)><script>alert(1)</script></svg>',
      '<a href="javascript:alert(1)">x</a>',
      '[x](javascript:alert(1))',
      '[x](JaVaScRiPt&colon;alert(1))',
      '[x](java\tscript:alert(1))',
      '[x](data:text/html;base64,PHNjcmlwdD4=)',
      '![x](javascript:alert(1))',
      '![x](data:image/svg+xml;base64,PHN2Zz4=)',
      '<javascript:alert(1)>',
      '[x][1]\n\n[1]: vbscript:x',
      '<iframe src="https://evil.org"></iframe>',
      '<style>*{background:url(//evil)}</style>',
      '<div style="background:url(javascript:alert(1))" onclick="alert(1)">x</div>',
      '<!--><script>alert(1)</script>-->',
      '<![CDATA[<script>alert(1)</script>]]>',
      '```html" onmouseover="alert(1)\nx\n```',
      '<details open ontoggle=alert(1)>x</details>',
      '<math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>',
    ];
    for (const markdown of hostile) {
      const checked = checkMarkdown(markdown, '');
      if (!checked.ok) {
        assert.equal(checked.problems[0]?.code, 'INVALID_IMAGE', markdown);
        continue;
      }
      if (checked.stored === null) continue;
      const json = JSON.stringify(checked.stored);
      assert.doesNotMatch(json, /"(?:href|src)":"(?!https?:|blob:)/, markdown);
      assert.doesNotMatch(
        json,
        /onerror|onclick|onload|ontoggle|onmouseover|<script|style=/i,
        `${markdown} gives ${json}`,
      );
      assert.doesNotMatch(markdownOf(checked.stored), /<script|onerror/i, markdown);
    }
  });

  it('loses no text after an unclosed element', () => {
    assert.equal(words(read('Insert <script> here.\n\nSecond.')), 'Insert here.|Second.');
  });

  it('is returned as written only if every parser reads it the same way', () => {
    for (const text of ['# A\n\n* b', 'a & b > c', '[x](https://a.org)', 'Windows: C:\\x'])
      assert.ok(isPlainMarkdown(text), text);
    for (const text of ['<b>', 'a < b', '&lt;', '&#106;avascript:x', '[x](javascript:y)', '![x](data:z)', 'a\u001bb'])
      assert.ok(!isPlainMarkdown(text), text);
  });

  it('rejects text that cannot be stored', () => {
    const code = (markdown: string): string | undefined => {
      const checked = checkMarkdown(markdown, '/body');
      return checked.ok ? undefined : `${checked.problems[0]?.path} ${checked.problems[0]?.code}`;
    };
    assert.equal(code('a\u0000'), '/body INVALID_TEXT');
    assert.equal(code('\ud800'), '/body INVALID_TEXT');
    assert.equal(code('x'.repeat(200_001)), '/body TOO_LARGE');
    assert.equal(code(`![x](data:image/gif;base64,AAAA)`), '/body INVALID_IMAGE');
  });

  it('round-trips as a document for any input', () => {
    const piece = fc.oneof(
      fc.constantFrom(
        '# ',
        '- ',
        '1. ',
        '> ',
        '```',
        '`',
        '**',
        '*',
        '_',
        '~~',
        '|',
        '\n',
        '\n\n',
        '  \n',
        '\\',
        '    ',
        '---',
        '[a](https://a.org)',
        '<b>',
        '</b>',
        '<u>',
        '</u>',
        '<br>',
        '<td>',
        '<table>',
        '</table>',
        '<p>',
        '<li>',
        '<ul>',
        '<pre>',
        '</pre>',
        '&amp;',
        '&lt;',
        'a|b\n-|-\n',
        '| x | y |\n',
        '!',
        '[',
        ']',
        '(',
        ')',
        '<',
        '>',
        ' ',
        'word',
        'Слово',
        '1',
        '.',
        '\t',
        '<!-- x -->',
        '<x>',
        `![i](${GIF})`,
      ),
      fc.string({ unit: 'grapheme', maxLength: 4 }),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 25 }), (pieces) => {
        const checked = checkMarkdown(pieces.join(''), '');
        if (!checked.ok)
          return assert.match(checked.problems[0]?.code ?? '', /^(?:INVALID_TEXT|INVALID_HTML|INVALID_IMAGE)$/);
        if (checked.stored === null) return;
        const written = markdownOf(checked.stored);
        assert.deepEqual(read(written), checked.stored, written);
      }),
      { numRuns: 1000 },
    );
  });

  it('contains every word of a document, and all of a document that Markdown can express', () => {
    const word = fc.stringMatching(/^[a-zA-Zа-яё0-9*_#`|<>&[\]()!\\.+~-]{1,8}$/);
    const marks = fc.uniqueArray(fc.constantFrom('bold', 'italic', 'strike', 'underline', 'code'), { maxLength: 3 });
    const order = ['link', 'bold', 'italic', 'strike', 'underline', 'code'];
    const run = fc.tuple(word, marks, fc.boolean()).map(([value, types, linked]) => {
      const all: { type: string }[] = types.map((type) => ({ type }));
      if (linked) all.push(link('https://a.org/x?y=(z)') as { type: string });
      return text(value, ...all.sort((a, b) => order.indexOf(a.type) - order.indexOf(b.type)));
    });
    const inline = fc.array(run, { minLength: 1, maxLength: 4 });
    const line = inline.map((content) => paragraph(...content));
    const item = fc
      .tuple(line, fc.array(line, { maxLength: 1 }))
      .map(([first, more]) => ({ type: 'listItem', content: [first, ...more] }));
    const block = fc.oneof(
      line,
      fc
        .tuple(inline, fc.integer({ min: 1, max: 6 }))
        .map(([content, level]) => ({ type: 'heading', attrs: { level }, content })),
      fc.array(line, { minLength: 1, maxLength: 2 }).map((content) => ({ type: 'blockquote', content })),
      fc.array(item, { minLength: 1, maxLength: 3 }).map((content) => ({ type: 'bulletList', content })),
      fc
        .tuple(fc.array(item, { minLength: 1, maxLength: 3 }), fc.integer({ min: 2, max: 99 }))
        .map(([content, start]) => ({
          type: 'orderedList',
          attrs: { start },
          content,
        })),
      fc
        .stringMatching(/^[a-z`~ \n]{0,12}[a-z]$/)
        .map((value) => ({ type: 'codeBlock', attrs: { language: 'sh' }, content: [text(`x${value}`)] })),
      fc.constant({ type: 'horizontalRule' }),
      fc.constant(image(HANDLE, { alt: 'An [odd] name' })),
      fc.array(fc.array(line, { minLength: 2, maxLength: 2 }), { minLength: 1, maxLength: 3 }).map((rows) => ({
        type: 'table',
        content: rows.map((cells, index) => ({
          type: 'tableRow',
          content: cells.map((content) => ({ type: index === 0 ? 'tableHeader' : 'tableCell', content: [content] })),
        })),
      })),
    );
    fc.assert(
      fc.property(fc.array(block, { minLength: 1, maxLength: 5 }), (blocks) => {
        const document = stored(doc(...blocks)) as RichNode;
        const written = markdownOf(document);
        assert.deepEqual(read(written), document, written);
      }),
      { numRuns: 500 },
    );
  });

  it('ends quickly on malicious text', () => {
    const size = 100_000;
    const parts = [
      '[',
      '![',
      '](',
      '*',
      '_',
      '**a',
      '`',
      '``` ',
      '<',
      '<script>',
      '</script>',
      '<b>',
      '- ',
      '> ',
      '1. ',
      '|',
      'a|b\n',
      '\\',
      '&',
      '[a]: x\n',
      '<!--',
      '~~',
      '[a](',
      '<x ',
      '\n\n- ',
    ];
    for (const part of parts) {
      const took = processorMs(() => {
        const checked = checkMarkdown(part.repeat(Math.floor(size / part.length)), '');
        if (checked.ok && checked.stored !== null) markdownOf(checked.stored);
      });
      assert.ok(took < 20_000, `${part} took ${took} ms`);
    }
    assert.ok(checkRichText(doc(paragraph(text('x'))), '').ok);
  });
});
