/**
 * Renders Markdown from other users. It is parsed into tokens, and each token becomes an element. HTML is not allowed, images
 * are not loaded, and only safe links are followed.
 */
import MarkdownIt from 'markdown-it';
import { createElement, Fragment, type ReactNode } from 'react';
import { MENTION } from '../../../src/lib/mentions.ts';
import { safeLink } from '../fields/rich-text.tsx';
import classes from '../fields/rich-text.module.css';

type Token = ReturnType<InstanceType<typeof MarkdownIt>['parse']>[number];

const parser = new MarkdownIt('default', { html: false, linkify: true, breaks: true, typographer: false });

const PLAIN = new Set([
  'p',
  'ul',
  'ol',
  'li',
  'blockquote',
  'strong',
  'em',
  's',
  'table',
  'thead',
  'tbody',
  'tr',
  'th',
  'td',
]);

interface MarkdownProps {
  source: string;
  /** Marks `@login` as a mention; `me` is the login of the reader. Absent: a text in which nobody is mentioned. */
  mentions?: { me: string | undefined };
}

export function Markdown({ source, mentions }: MarkdownProps) {
  const tokens = parser.parse(source, {});
  return <div className={classes.text}>{build(tokens, mentions)}</div>;
}

/** The text of Markdown without its marks, for an excerpt. */
export function MarkdownText({ source }: { source: string }) {
  return parser.parse(source, {}).map(textOf).filter(Boolean).join(' ');
}

function textOf({ content, children }: Token): string {
  if (children === null) return content;
  return children.map((child) => (child.type.endsWith('break') ? ' ' : child.content)).join('');
}

function Mention({ login, mine }: { login: string; mine: boolean }) {
  return (
    <span className={classes.mention} data-mention={mine ? 'me' : ''}>
      {login}
    </span>
  );
}

function withMentions(text: string, { me }: NonNullable<MarkdownProps['mentions']>): ReactNode {
  // The pattern has one group, so every second part is a mention.
  return createElement(
    Fragment,
    null,
    ...text
      .split(MENTION)
      .map((part, index) =>
        index % 2 === 0 ? part : createElement(Mention, { login: part, mine: part === `@${me}` }),
      ),
  );
}

interface Open {
  token: Token | undefined;
  inside: ReactNode[];
}

/** Builds nested elements from the flat list of opening and closing tokens. */
function build(tokens: readonly Token[], mentions: MarkdownProps['mentions']): ReactNode[] {
  const root: Open = { token: undefined, inside: [] };
  const stack: Open[] = [root];
  const top = (): Open => stack.at(-1) ?? root;
  for (const token of tokens) {
    if (token.nesting === 1) stack.push({ token, inside: [] });
    else if (token.nesting === -1) {
      const closed = stack.pop();
      if (closed?.token !== undefined) top().inside.push(element(closed.token, closed.inside, top().inside.length));
    } else top().inside.push(leaf(token, top().inside.length, mentions));
  }
  return root.inside;
}

function element(token: Token, inside: ReactNode[], key: number): ReactNode {
  // Tight list items have hidden paragraphs.
  if (token.hidden) return createElement(Fragment, { key }, ...inside);
  if (token.tag === 'a') {
    const href = safeLink(token.attrGet('href'));
    if (href === undefined) return createElement(Fragment, { key }, ...inside);
    return createElement('a', { key, href, target: '_blank', rel: 'noreferrer nofollow' }, ...inside);
  }
  if (/^h[1-6]$/.test(token.tag)) return createElement(Number(token.tag[1]) < 3 ? 'h3' : 'h4', { key }, ...inside);
  // The parser gives a start only to lists that do not begin with 1.
  const start = token.attrGet('start');
  if (token.tag === 'ol' && start !== null) return createElement('ol', { key, start: Number(start) }, ...inside);
  return createElement(PLAIN.has(token.tag) ? token.tag : Fragment, { key }, ...inside);
}

function leaf(token: Token, key: number, mentions: MarkdownProps['mentions']): ReactNode {
  switch (token.type) {
    case 'inline':
      return createElement(Fragment, { key }, ...build(token.children ?? [], mentions));
    case 'softbreak':
    case 'hardbreak':
      return createElement('br', { key });
    case 'code_inline':
      return createElement('code', { key }, token.content);
    case 'code_block':
    case 'fence':
      return createElement('pre', { key }, createElement('code', null, token.content));
    case 'hr':
      return createElement('hr', { key });
    case 'image':
      // Loading an external image would reveal the reader to its server.
      return token.content;
    case 'text':
      return mentions === undefined
        ? token.content
        : createElement(Fragment, { key }, withMentions(token.content, mentions));
    default:
      return token.content;
  }
}
