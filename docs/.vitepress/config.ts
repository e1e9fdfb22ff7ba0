/** The documentation site: `npm run docs:dev`, `npm run docs:build`. Dead links fail the build. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { defineConfig } from 'vitepress';

const DOCS = path.dirname(import.meta.dirname);

interface Entry {
  text: string;
  link: string;
}

/** The pages of a folder, by their titles; the index first. */
function pagesOf(folder: string): Entry[] {
  const names = readdirSync(path.join(DOCS, folder)).filter((name) => name.endsWith('.md'));
  const pages = names.map((name) => {
    const title = /^# (.+)$/m.exec(readFileSync(path.join(DOCS, folder, name), 'utf8'))?.[1] ?? name;
    return { text: title, link: name === 'README.md' ? `/${folder}/` : `/${folder}/${name.replace(/\.md$/, '')}` };
  });
  const isIndex = ({ link }: Entry): number => (link.endsWith('/') ? 0 : 1);
  const key = ({ text, link }: Entry): string => (/\/\d{4}-/.test(link) ? link : text);
  return pages.toSorted((a, b) => isIndex(a) - isIndex(b) || key(a).localeCompare(key(b)));
}

const section = (text: string, folder: string, collapsed = true) => ({ text, collapsed, items: pagesOf(folder) });

/** True if a relative link of a page leads out of `docs`. The site has no copy of such files and shows only the text. */
function leavesDocs(href: string, page: string): boolean {
  return !/^(?:[a-z]+:|#|\/)/.test(href) && path.posix.join(path.posix.dirname(page), href).startsWith('../');
}

export default defineConfig({
  title: 'Docket',
  description: 'Self-hosted work records behind an HTTP API',
  lang: 'en',
  cleanUrls: true,
  rewrites: (page) => page.replace(/README\.md$/, 'index.md'),
  head: [['meta', { name: 'referrer', content: 'no-referrer' }]],
  markdown: {
    // Pages are plain Markdown: no HTML, no Vue expressions.
    html: false,
    config(md) {
      md.renderer.rules.code_inline = (tokens, at) =>
        `<code v-pre>${md.utils.escapeHtml(tokens[at]?.content ?? '')}</code>`;
      md.core.ruler.push('links', (state) => {
        const page = String(state.env.relativePath).replace(/index\.md$/, 'README.md');
        for (const { children } of state.tokens) {
          const open = [];
          for (const token of children ?? []) {
            if (token.type === 'link_open') {
              const href = String(token.attrGet('href') ?? '');
              if (leavesDocs(href, page)) Object.assign(token, { tag: 'span', attrs: null });
              else token.attrSet('href', href.replace(/README\.md(?=#|$)/, 'index.md'));
              open.push(token.tag);
            } else if (token.type === 'link_close') token.tag = open.pop() ?? token.tag;
            // VitePress resolves the links of `link_open`; other tags are rendered as they are.
            if (token.tag === 'span') token.type = token.nesting === 1 ? 'span_open' : 'span_close';
          }
        }
      });
    },
  },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    nav: [
      { text: 'Tour', link: '/tutorial/tour' },
      { text: 'First hour', link: '/tutorial/first-hour' },
      { text: 'API contract', link: '/spec/' },
      { text: 'Architecture', link: '/architecture' },
    ],
    sidebar: [
      section('Tutorial', 'tutorial', false),
      section('How-to guides', 'how-to', false),
      section('Reference', 'reference', false),
      section('API contract', 'spec'),
      {
        text: 'Explanation',
        collapsed: false,
        items: [
          { text: 'Architecture', link: '/architecture' },
          { text: 'Style', link: '/style' },
          ...pagesOf('explanation'),
          { text: 'Glossary', link: '/glossary' },
        ],
      },
      section('Decisions', 'decisions'),
    ],
  },
});
