import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { fillMail } from './template.ts';

const values: Record<string, string> = {
  title: 'Printer <b>5</b> & "co"',
  number: 'INC-17',
  description: 'line 1\r\nline 2\n{{ title }}',
  url: 'https://desk.example.org/work/17?a=1&b=2',
  script: 'javascript:alert(1)',
  path: 'a/../b "x',
  markdown: '**bold** [x](https://evil.net) ![i](https://evil.net/i.png)\n# head\n> quote',
};
const fill = (body: string, subject = '{{ number }}: {{ title }}') =>
  fillMail({ subject, body }, (name) => (Object.hasOwn(values, name) ? (values[name] as string) : ''));

describe('mail templates', () => {
  it('fill text and HTML from Markdown', () => {
    const mail = fill('## {{ number }}\n\n**{{ title }}** is *open*.\n\n[Open]({{url}})');
    assert.equal(mail.subject, 'INC-17: Printer <b>5</b> & "co"');
    assert.equal(mail.text, `INC-17\n\n${values['title']} is *open*.\n\nOpen: ${values['url']}`);
    assert.equal(
      mail.html,
      '<h2>INC-17</h2>\n<p><strong>Printer &lt;b&gt;5&lt;/b&gt; &amp; &quot;co&quot;</strong> is <em>open</em>.</p>\n' +
        '<p><a href="https://desk.example.org/work/17?a=1&amp;b=2">Open</a></p>\n',
    );
  });

  it('keep the lines of a value, and do not fill placeholders of a value', () => {
    const { text, html } = fill('{{ description }}');
    assert.equal(text, 'line 1\nline 2\n{{ title }}');
    assert.match(html, /^<p>line 1<br ?\/?>\s*line 2<br ?\/?>\s*\{\{ title \}\}<\/p>\n$/);
  });

  it('take values as text, not as Markdown', () => {
    const { html } = fill('{{ markdown }}');
    assert.ok(!/<(?:strong|a|img|h1|blockquote)/.test(html), html);
    assert.ok(html.includes('**bold**'));
    const { html: code } = fill('`{{ title }}`\n\n    {{ title }}\n\n```\n{{ title }}\n```');
    assert.ok(!code.includes('<b>'), code);
  });

  it('link only to web addresses, and encode values within them', () => {
    assert.match(fill('[x]({{script}})').html, /href=""/);
    assert.match(fill('[x](javascript:alert)').html, /href=""/);
    assert.match(fill('[x](https://a.example/{{path}})').html, /href="https:\/\/a\.example\/a%2F\.\.%2Fb%20%22x"/);
    assert.match(fill('[x](mailto:{{number}}@example.org)').html, /href="mailto:INC-17@example\.org"/);
  });

  it('load no images, and take no HTML', () => {
    const { html } = fill('![alt](https://tracker.example/x.png) <img src=x> <script>alert(1)</script>');
    assert.ok(!/<(?:img|script)/.test(html), html);
    assert.ok(html.includes('alt'));
  });

  it('leave names without a value empty', () => {
    assert.deepEqual(fill('a {{ hidden }} b', '{{ hidden }}'), { subject: '', text: 'a  b', html: '<p>a  b</p>\n' });
  });

  it('make a subject of one line, whatever the values are', () => {
    const subject = fillMail(
      { subject: 'Re: {{ a }}', body: '' },
      () => 'x\r\nBcc: evil@example.net\u2028\u0000y',
    ).subject;
    assert.equal(subject, 'Re: x Bcc: evil@example.net y');
    assert.equal(fillMail({ subject: '{{ a }}', body: '' }, () => 'x'.repeat(9000)).subject.length, 250);
  });

  it('never let a value open an element', () => {
    const piece = fc.constantFrom(
      '<',
      '>',
      '"',
      "'",
      '`',
      '*',
      '[',
      ']',
      '(',
      ')',
      '&',
      '\n',
      'script',
      '{{ v }}',
      ' ',
      '=',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), (parts) => {
        const value = parts.join('');
        const { html } = fillMail({ subject: '', body: 'a {{ v }} `{{ v }}` [l](https://x.org/{{v}})' }, () => value);
        const tags = new Set([...html.matchAll(/<\/?([a-z]+)/g)].map(([, name]) => name));
        assert.ok(
          [...tags].every((name) => ['p', 'br', 'code', 'a'].includes(name as string)),
          html,
        );
        assert.ok(!/<a [^>]*"[^>]*"[^>]*"/.test(html), html);
      }),
      { numRuns: 500 },
    );
  });
});
