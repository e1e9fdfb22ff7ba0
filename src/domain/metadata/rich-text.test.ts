import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { doc, image, link, paragraph, problems, stored, text } from '../../../test/support/rich-text-values.ts';
import { checkRichText, richTextPlain } from './rich-text.ts';
import type { RichNode } from './rich-text-schema.ts';

describe('checkRichText of documents', () => {
  it('accepts every node and mark as the editor writes them', () => {
    const all = doc(
      { type: 'heading', attrs: { level: 2 }, content: [text('Title')] },
      paragraph(
        text('plain '),
        text(
          'all',
          link('https://a.org/x?y=1#z'),
          { type: 'bold' },
          { type: 'italic' },
          { type: 'strike' },
          { type: 'underline' },
          { type: 'code' },
        ),
        { type: 'hardBreak' },
        text('end'),
      ),
      {
        type: 'bulletList',
        content: [
          {
            type: 'listItem',
            content: [
              paragraph(text('a')),
              {
                type: 'orderedList',
                attrs: { start: 3 },
                content: [{ type: 'listItem', content: [{ type: 'paragraph' }] }],
              },
            ],
          },
        ],
      },
      { type: 'blockquote', content: [paragraph(text('q'))] },
      { type: 'codeBlock', attrs: { language: 'c++' }, content: [text('a\n  b')] },
      { type: 'horizontalRule' },
      image(`blob:${'a'.repeat(64)}`, { alt: 'A', width: 10 }),
      {
        type: 'table',
        content: [
          {
            type: 'tableRow',
            content: [
              { type: 'tableHeader', attrs: { colspan: 2 }, content: [paragraph(text('h'))] },
              { type: 'tableCell', attrs: { colwidth: [100] }, content: [{ type: 'paragraph' }] },
            ],
          },
        ],
      },
    );
    assert.deepEqual(JSON.parse(JSON.stringify(stored(all))), all);
  });

  it('normalizes equal documents to one form', () => {
    const written = doc(
      {
        type: 'paragraph',
        attrs: {},
        marks: [],
        content: [
          text('e\u0301', { type: 'italic' }, { type: 'bold', attrs: {} }),
          text('x', { type: 'bold' }, { type: 'italic' }),
        ],
      },
      {
        type: 'orderedList',
        attrs: { start: 1, type: null },
        content: [
          {
            type: 'listItem',
            content: [
              paragraph(
                text(
                  'a',
                  link('https://a.org', { target: '_blank', rel: 'noopener noreferrer', class: null, title: null }),
                ),
                { type: 'hardBreak', marks: [{ type: 'bold' }] },
              ),
            ],
          },
        ],
      },
      { type: 'codeBlock', attrs: { language: null }, content: [text('a'), text('b')] },
      {
        type: 'table',
        content: [
          {
            type: 'tableRow',
            content: [
              {
                type: 'tableCell',
                attrs: { colspan: 1, rowspan: 1, colwidth: null },
                content: [{ type: 'paragraph', content: [] }],
              },
            ],
          },
        ],
      },
    );
    assert.deepEqual(stored(written), {
      type: 'doc',
      content: [
        { type: 'paragraph', content: [{ type: 'text', marks: [{ type: 'bold' }, { type: 'italic' }], text: 'éx' }] },
        {
          type: 'orderedList',
          content: [
            {
              type: 'listItem',
              content: [
                {
                  type: 'paragraph',
                  content: [
                    { type: 'text', marks: [{ type: 'link', attrs: { href: 'https://a.org' } }], text: 'a' },
                    { type: 'hardBreak' },
                  ],
                },
              ],
            },
          ],
        },
        { type: 'codeBlock', content: [{ type: 'text', text: 'ab' }] },
        {
          type: 'table',
          content: [{ type: 'tableRow', content: [{ type: 'tableCell', content: [{ type: 'paragraph' }] }] }],
        },
      ],
    });
  });

  it('treats a document without content as empty', () => {
    for (const empty of [
      doc(paragraph()),
      doc({ type: 'paragraph' }, { type: 'heading', attrs: { level: 1 } }),
      doc(paragraph(text('  '))),
      doc({ type: 'bulletList', content: [{ type: 'listItem', content: [{ type: 'paragraph' }] }] }),
    ]) {
      assert.equal(stored(empty), null);
    }
    assert.notEqual(stored(doc({ type: 'horizontalRule' })), null);
  });

  it('accepts safe links only', () => {
    for (const href of ['https://a.org', 'http://a.org/б', 'HTTPS://A.ORG', 'mailto:a@b.org?subject=x', 'tel:+7495'])
      stored(doc(paragraph(text('x', link(href)))));
    for (const href of [
      'javascript:alert(1)',
      'JaVaScRiPt:alert(1)',
      'java\nscript:alert(1)',
      ' javascript:alert(1)',
      '\u0001https://a.org',
      'data:text/html,x',
      'vbscript:x',
      'file:///etc',
      '//a.org',
      '/x',
      '#x',
      'a.org',
      '',
      'https:',
      'https://u:p@a.org',
      'mailto:',
      'mailto:a b',
      'tel:1\n2',
      `https://a.org/${'x'.repeat(2048)}`,
      5,
      null,
      'https://a.org/\ud800',
    ]) {
      assert.deepEqual(
        problems(doc(paragraph(text('x', link(href))))),
        ['/v/content/0/content/0/marks/0/attrs/href INVALID_ATTRIBUTE'],
        String(href),
      );
    }
    assert.deepEqual(problems(doc(paragraph(text('x', { type: 'link' })))), [
      '/v/content/0/content/0/marks/0/attrs/href INVALID_ATTRIBUTE',
    ]);
  });

  const refused: [name: string, input: unknown, ...expected: string[]][] = [
    ['no object', 5, '/v WRONG_TYPE'],
    ['a list', [], '/v WRONG_TYPE'],
    ['a fragment', { type: 'paragraph' }, '/v UNKNOWN_NODE'],
    ['no content', { type: 'doc' }, '/v INCOMPLETE'],
    ['content that is no list', { type: 'doc', content: {} }, '/v/content WRONG_TYPE'],
    ['an unknown node', doc({ type: 'iframe' }), '/v/content/0/type UNKNOWN_NODE'],
    ['a node by a name of Object.prototype', doc({ type: 'constructor' }), '/v/content/0/type UNKNOWN_NODE'],
    ['a node without type', doc({ text: 'x' }), '/v/content/0/type UNKNOWN_NODE'],
    ['an unknown mark', doc(paragraph(text('x', { type: 'script' }))), '/v/content/0/content/0/marks/0 UNKNOWN_MARK'],
    [
      'a mark twice',
      doc(paragraph(text('x', { type: 'bold' }, { type: 'bold' }))),
      '/v/content/0/content/0/marks/1 NOT_UNIQUE',
    ],
    [
      'marks that are no list',
      doc(paragraph({ type: 'text', text: 'x', marks: 'bold' })),
      '/v/content/0/content/0/marks WRONG_TYPE',
    ],
    [
      'an unknown attribute',
      doc({ type: 'paragraph', attrs: { onclick: 'x' } }),
      '/v/content/0/attrs/onclick UNKNOWN_ATTRIBUTE',
    ],
    [
      'an unknown attribute of a mark',
      doc(paragraph(text('x', link('https://a.org', { onclick: 'x' })))),
      '/v/content/0/content/0/marks/0/attrs/onclick UNKNOWN_ATTRIBUTE',
    ],
    ['an unknown property', doc({ type: 'paragraph', style: 'x' }), '/v/content/0/style UNKNOWN_ATTRIBUTE'],
    [
      'a property of text',
      doc(paragraph({ type: 'text', text: 'x', attrs: {} })),
      '/v/content/0/content/0/attrs UNKNOWN_ATTRIBUTE',
    ],
    [
      '__proto__',
      JSON.parse('{"type":"doc","content":[{"type":"paragraph","__proto__":{}}]}'),
      '/v/content/0/__proto__ UNKNOWN_ATTRIBUTE',
    ],
    ['a missing attribute', doc({ type: 'heading' }), '/v/content/0/attrs/level INVALID_ATTRIBUTE'],
    [
      'a level out of range',
      doc({ type: 'heading', attrs: { level: 7 } }),
      '/v/content/0/attrs/level INVALID_ATTRIBUTE',
    ],
    [
      'a level of another type',
      doc({ type: 'heading', attrs: { level: '1' } }),
      '/v/content/0/attrs/level INVALID_ATTRIBUTE',
    ],
    [
      'an unsafe language',
      doc({ type: 'codeBlock', attrs: { language: '"><script>' } }),
      '/v/content/0/attrs/language INVALID_ATTRIBUTE',
    ],
    ['text at the top', doc(text('x')), '/v/content/0 NOT_ALLOWED_HERE'],
    ['an empty text', doc(paragraph(text(''))), '/v/content/0/content/0/text WRONG_TYPE'],
    ['a text that is a number', doc(paragraph({ type: 'text', text: 5 })), '/v/content/0/content/0/text WRONG_TYPE'],
    ['U+0000', doc(paragraph(text('a\u0000'))), '/v/content/0/content/0/text INVALID_TEXT'],
    ['a lone surrogate', doc(paragraph(text('\ud800'))), '/v/content/0/content/0/text INVALID_TEXT'],
    [
      'endless marks on a letter',
      doc(paragraph(text(`a${'\u0301\u0316'.repeat(50_000)}`))),
      '/v/content/0/content/0/text INVALID_TEXT',
    ],
    ['a block in a paragraph', doc(paragraph({ type: 'paragraph' })), '/v/content/0/content/0 NOT_ALLOWED_HERE'],
    ['a list without items', doc({ type: 'bulletList' }), '/v/content/0 INCOMPLETE'],
    [
      'a list item outside a list',
      doc({ type: 'listItem', content: [{ type: 'paragraph' }] }),
      '/v/content/0 NOT_ALLOWED_HERE',
    ],
    [
      'a list item that starts with a list',
      doc({ type: 'bulletList', content: [{ type: 'listItem', content: [{ type: 'horizontalRule' }] }] }),
      '/v/content/0/content/0/content/0 NOT_ALLOWED_HERE',
    ],
    [
      'a cell outside a row',
      doc({ type: 'table', content: [{ type: 'tableCell', content: [{ type: 'paragraph' }] }] }),
      '/v/content/0/content/0 NOT_ALLOWED_HERE',
    ],
    [
      'marks in code',
      doc({ type: 'codeBlock', content: [text('x', { type: 'bold' })] }),
      '/v/content/0/content/0/marks NOT_ALLOWED_HERE',
    ],
    ['marks on a block', doc({ type: 'paragraph', marks: [{ type: 'bold' }] }), '/v/content/0/marks NOT_ALLOWED_HERE'],
    ['text of a block', doc({ type: 'paragraph', text: 'x' }), '/v/content/0/text NOT_ALLOWED_HERE'],
    ['an image elsewhere', doc(image('https://a.org/x.png')), '/v/content/0/attrs/src INVALID_ATTRIBUTE'],
    ['an image in upper case', doc(image(`blob:${'A'.repeat(64)}`)), '/v/content/0/attrs/src INVALID_ATTRIBUTE'],
    ['an image without address', doc({ type: 'image' }), '/v/content/0/attrs/src INVALID_ATTRIBUTE'],
  ];
  for (const [name, input, ...expected] of refused) {
    it(`rejects ${name}`, () => assert.deepEqual(problems(input), expected));
  }

  it('limits depth, size, nodes and problems', () => {
    const nested = (depth: number): unknown => {
      let node: unknown = paragraph(text('x'));
      for (let index = 0; index < depth; index++) node = { type: 'blockquote', content: [node] };
      return doc(node);
    };
    stored(nested(22));
    assert.match(problems(nested(23))[0] ?? '', /TOO_DEEP$/);
    assert.match(problems(nested(100_000))[0] ?? '', /TOO_DEEP$/);
    assert.deepEqual(problems(doc(paragraph(text('я'.repeat(524_288))))), ['/v TOO_LARGE']);
    assert.match(problems(doc(paragraph(text('x'.repeat(1_048_577)))))[0] ?? '', /TOO_LARGE$/);
    assert.match(
      problems(doc(...Array.from({ length: 60_000 }, () => ({ type: 'paragraph' }))))[0] ?? '',
      /TOO_LARGE$/,
    );
    assert.equal(problems(doc(...Array.from({ length: 100 }, () => ({ type: 'x' })))).length, 20);
  });

  it('never throws', () => {
    const type = fc.constantFrom(
      'doc',
      'paragraph',
      'text',
      'heading',
      'bulletList',
      'listItem',
      'table',
      'tableRow',
      'tableCell',
      'image',
      'codeBlock',
      'x',
    );
    const { node } = fc.letrec<{ node: unknown }>((tie) => ({
      node: fc.oneof(
        { maxDepth: 5 },
        fc.record({ type, text: fc.string() }, { requiredKeys: ['type'] }),
        fc.record(
          {
            type,
            content: fc.array(tie('node'), { maxLength: 3 }),
            marks: fc.oneof(fc.constant([{ type: 'bold' }]), fc.anything()),
            attrs: fc.oneof(fc.constant({ level: 1 }), fc.anything()),
          },
          { requiredKeys: ['type'] },
        ),
        fc.anything(),
      ),
    }));
    fc.assert(
      fc.property(
        fc.oneof(
          node,
          fc.array(node, { maxLength: 3 }).map((content) => doc(...content)),
        ),
        (input) => {
          const checked = checkRichText(input, '/v');
          if (checked.ok && typeof input !== 'string') stored(input);
        },
      ),
      { numRuns: 3000 },
    );
  });
});

describe('richTextPlain', () => {
  it('returns the words with one line per block', () => {
    const cell = (...content: unknown[]): unknown => ({ type: 'tableCell', content });
    const input = doc(
      { type: 'heading', attrs: { level: 1 }, content: [text('Заголовок')] },
      paragraph(text('a', { type: 'bold' }), text('b'), { type: 'hardBreak' }, text('c')),
      { type: 'paragraph' },
      {
        type: 'bulletList',
        content: [
          { type: 'listItem', content: [paragraph(text('x')), paragraph(text('y'))] },
          { type: 'listItem', content: [paragraph(text('z'))] },
        ],
      },
      image(`blob:${'0'.repeat(64)}`, { alt: 'Схема' }),
      {
        type: 'table',
        content: [
          { type: 'tableRow', content: [cell(paragraph(text('1'))), cell(paragraph(text('2')), paragraph(text('3')))] },
        ],
      },
    );
    assert.equal(richTextPlain(stored(input) as RichNode), 'Заголовок\nab\nc\nx\ny\nz\nСхема\n1\t2 3');
  });
});
