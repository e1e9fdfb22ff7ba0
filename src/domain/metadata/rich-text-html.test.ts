import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { checkRichText } from './rich-text.ts';
import type { RichNode } from './rich-text-schema.ts';
import { processorMs } from '../../../test/support/processor-time.ts';

const GIF = 'data:image/gif;base64,R0lGODlhAQABAAAAACw=';

/** A short notation of documents: name(children), text in quotes, marks after `^`. */
function show(node: RichNode): string {
  if (node.type === 'text') {
    const marks = (node.marks ?? [])
      .map(({ type, attrs }) => `^${type}${attrs === undefined ? '' : `=${attrs.href}`}`)
      .join('');
    return `'${node.text}'${marks}`;
  }
  const attrs =
    node.attrs === undefined
      ? ''
      : `[${Object.values(node.attrs)
          .map((value) => String(value).slice(0, 12))
          .join()}]`;
  const content = (node.content ?? []).map(show).join(' ');
  return `${node.type}${attrs}${content === '' ? '' : `(${content})`}`;
}

function read(html: string): string {
  const checked = checkRichText(html, '/v');
  assert.ok(checked.ok, JSON.stringify(checked));
  return checked.stored === null ? '' : (checked.stored.content ?? []).map(show).join(' ');
}

describe('checkRichText of HTML', () => {
  const cases: [html: string, expected: string][] = [
    ['plain & simple < text', "paragraph('plain & simple < text')"],
    ['Привет&nbsp;мир &amp; &lt;b&gt; &#1105;', "paragraph('Привет\u00a0мир & <b> ё')"],
    ['', ''],
    ['  \n ', ''],
    ['<p></p><div><br></div>', ''],
    ['<p>a</p>\n\n<p>b</p>', "paragraph('a') paragraph('b')"],
    ['a<div>b</div>c', "paragraph('a') paragraph('b') paragraph('c')"],
    ['<p>one\n  two <b> three</b> </p>', "paragraph('one two ' 'three'^bold)"],
    ['<p>a<br>b<br></p>', "paragraph('a' hardBreak 'b')"],
    ['<b>a<i>b</b>c</i>', "paragraph('a'^bold 'b'^bold^italic 'c')"],
    ['<strong><em><u><s><code>x</code></s></u></em></strong>', "paragraph('x'^bold^italic^strike^underline^code)"],
    ['<b><strong>x</strong></b>', "paragraph('x'^bold)"],
    ['<h1>A</h1><h6 class="x">B</h6><h7>C</h7>', "heading[1]('A') heading[6]('B') paragraph('C')"],
    ['<blockquote>a<p>b</blockquote>c', "blockquote(paragraph('a') paragraph('b')) paragraph('c')"],
    ['<blockquote></blockquote>a', "paragraph('a')"],
    ['<pre>\na\n  b &lt;\n</pre>c', "codeBlock('a\n  b <') paragraph('c')"],
    ['<pre><code class="hljs language-c++">int <b>x</b>;<br>y</code></pre>', "codeBlock[c++]('int x;\ny')"],
    ['a<hr>b', "paragraph('a') horizontalRule paragraph('b')"],
    [
      '<ul><li>a<li>b<ul><li>c</ul></ul>',
      "bulletList(listItem(paragraph('a')) listItem(paragraph('b') bulletList(listItem(paragraph('c')))))",
    ],
    ['<ol start=5><li>a</ol>', "orderedList[5](listItem(paragraph('a')))"],
    ['<ol start="x"><li></li></ol>a', "orderedList(listItem(paragraph)) paragraph('a')"],
    [
      '<ul>loose<li>a</li> <p>b</p></ul>',
      "bulletList(listItem(paragraph('loose')) listItem(paragraph('a')) listItem(paragraph('b')))",
    ],
    ['<ul><ul><li>a</ul></ul>', "bulletList(listItem(paragraph bulletList(listItem(paragraph('a')))))"],
    ['<li>a</li>b', "paragraph('a') paragraph('b')"],
    ['<ul><li><h2>t</h2></li></ul>', "bulletList(listItem(paragraph heading[2]('t')))"],
    [
      '<table><thead><tr><th>h<th colspan=2>i</thead><tr><td>a<td><p>b</p>c</table>d',
      "table(tableRow(tableHeader(paragraph('h')) tableHeader[2](paragraph('i'))) tableRow(tableCell(paragraph('a')) tableCell(paragraph('b') paragraph('c')))) paragraph('d')",
    ],
    ['<table><tr></tr></table>a', "paragraph('a')"],
    ['<table><td>a</table>', "table(tableRow(tableCell(paragraph('a'))))"],
    [
      '<table><caption>t</caption>loose<tr><td></td></tr></table>',
      "table(tableRow(tableCell(paragraph('t') paragraph('loose'))) tableRow(tableCell(paragraph)))",
    ],
    [
      '<table><tr><td>a<table><tr><td>b</td><td>c</td></tr></table>d</td><td>e</td></tr></table>',
      "table(tableRow(tableCell(paragraph('a') paragraph('b') paragraph('c') paragraph('d')) tableCell(paragraph('e'))))",
    ],
    ['<tr><td>a</td></tr>', "paragraph('a')"],
    [
      '<table><tr><td><ul><li>a</td><td>b</td></tr></table>',
      "table(tableRow(tableCell(bulletList(listItem(paragraph('a')))) tableCell(paragraph('b'))))",
    ],
    ['<a href="https://a.org/x?a=1&amp;b=2">l</a>', "paragraph('l'^link=https://a.org/x?a=1&b=2)"],
    [
      '<a href=" javascript:alert(1)">x</a><a href="JAVASCRIPT:x">y</a><a href="java&#10;script:x">z</a><a href=/rel>r</a><a>n</a>',
      "paragraph('xyzrn')",
    ],
    [
      '<a href="https://a.org"><img src="https://a.org/i.png" alt="Logo"></a>',
      "paragraph('Logo'^link=https://a.org/i.png)",
    ],
    [
      '<img src="http://a.org/i.png"><img src="cid:1" alt="C"><img src="javascript:x"><img>',
      "paragraph('http://a.org/i.png'^link=http://a.org/i.png 'C')",
    ],
    [`<p>a<img src="${GIF}" alt="G">b</p>`, "paragraph('a') image[blob:2f41918,G] paragraph('b')"],
    [
      '<script>alert(1)</script><style>p{}</style><title>t</title><textarea>x</textarea>a<svg><a href="https://a.org">s</a></svg><noscript>n</noscript>',
      "paragraph('a')",
    ],
    [
      '<p onclick="x" style="color:red">a</p><font color=red>b</font><custom-tag>c</custom-tag>',
      "paragraph('a') paragraph('bc')",
    ],
    ['<!doctype html><!-- c --><html><head><title>x</title></head><body>a</body></html>', "paragraph('a')"],
    ['<p>unclosed <b>bold', "paragraph('unclosed ' 'bold'^bold)"],
    ['</p></div></b>a', "paragraph('a')"],
    ['a <', "paragraph('a <')"],
    ['<<script>alert(1)//<</script>x', "paragraph('<x')"],
    ['<img src=x onerror=alert(1)//', ''],
    ['&#0;&#xD800;x', "paragraph('\ufffd\ufffdx')"],
    ['<p>e\u0301</p>', "paragraph('é')"],
  ];
  for (const [html, expected] of cases) {
    it(`parses ${JSON.stringify(html).slice(0, 70)}`, () => assert.equal(read(html), expected));
  }

  it('reports problems at the path of the value, since the caller has no document', () => {
    const refused = (html: string): unknown => {
      const checked = checkRichText(html, '/values/f');
      return checked.ok ? checked : checked.problems.map(({ path, code }) => `${path} ${code}`);
    };
    assert.deepEqual(refused('<img src="data:image/png;base64,AAAA">'), ['/values/f INVALID_IMAGE']);
    assert.deepEqual(refused('a\u0000'), ['/values/f INVALID_TEXT']);
    assert.deepEqual(refused('\ud800'), ['/values/f INVALID_TEXT']);
    assert.deepEqual(refused('<b>'.repeat(1000)), ['/values/f INVALID_HTML']);
    assert.deepEqual(refused('<p>x'.repeat(70_000)), ['/values/f INVALID_HTML']);
    assert.deepEqual(refused(`<p>${'x'.repeat(1_100_000)}`), ['/values/f INVALID_HTML']);
    assert.deepEqual(refused(`<p>${'я'.repeat(1_000_000)}`), ['/values/f TOO_LARGE']);
  });

  it('does not count images against the length of HTML', () => {
    const gif = Buffer.concat([Buffer.from(GIF.split(',')[1] ?? '', 'base64'), Buffer.alloc(2_000_000)]);
    const checked = checkRichText(`<p>a<img src="data:image/gif;base64,${gif.toString('base64')}">`, '');
    assert.ok(checked.ok && checked.images[0]?.bytes.equals(gif));
  });

  it('flattens elements nested deeper than a document allows', () => {
    assert.match(read(`${'<ul><li>'.repeat(60)}deep`), /'deep'/);
    assert.match(read(`${'<blockquote>'.repeat(100)}deep`), /'deep'/);
    assert.match(read(`${'<blockquote><ul><li><table><tr><td>'.repeat(20)}deep`), /'deep'/);
  });

  it('ends quickly on malicious HTML', () => {
    const size = 1_000_000;
    const parts = [
      '<',
      '</',
      '<b',
      '<b>',
      '<p>',
      '</p>',
      '<a href="',
      '<!--',
      '<![CDATA[',
      '&',
      '&#',
      '&amp',
      '<img ',
      '<p a=',
      '<td>',
      '<li>',
      '<table>',
      '</table>',
      '<br>',
      '<b></b>',
      '<b><i></b></i>',
      '<pre>',
      ' ',
      '\n ',
      'a\u0301',
      '<svg>',
      '<script>',
      '<p a b c d e f g h>',
    ];
    for (const part of parts) {
      const html = part.repeat(Math.floor(size / part.length));
      const took = processorMs(() => {
        checkRichText(html, '');
      });
      assert.ok(took < 10_000, `${part} took ${took} ms`);
    }
  });

  it('always yields a valid document or an error', () => {
    const tag = fc.constantFrom(
      ...'p div h1 ul ol li table tr td th blockquote pre code b i a br hr img script svg thead caption span'.split(
        ' ',
      ),
    );
    const piece = fc.oneof(
      tag.map((name) => `<${name}>`),
      tag.map((name) => `</${name}>`),
      fc.constantFrom(
        'text',
        ' ',
        '&amp;',
        '<',
        '<a href="https://a.org">',
        `<img src="${GIF}">`,
        '<td colspan=2>',
        '<p class="',
      ),
      fc.string({ unit: 'grapheme', maxLength: 4 }),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const checked = checkRichText(pieces.join(''), '');
        if (!checked.ok)
          return assert.match(
            checked.problems[0]?.code ?? '',
            /^(?:INVALID_TEXT|INVALID_HTML)$/,
            JSON.stringify(checked),
          );
        if (checked.stored !== null)
          assert.deepEqual(checkRichText(checked.stored, ''), { ok: true, stored: checked.stored, images: [] });
      }),
      { numRuns: 5000 },
    );
  });
});
