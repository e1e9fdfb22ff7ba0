/**
 * Fills the templates of mails: a subject, and a body in Markdown. `{{ field }}` is replaced by the text of a value. A value is
 * text alone: it can neither add markup to the HTML, nor a placeholder, nor a line to the subject.
 */
import MarkdownIt from 'markdown-it';
import { isWebAddress } from '../../lib/data-types/index.ts';
import { fillTemplate } from '../../lib/template.ts';

const LONGEST_SUBJECT = 250;
/** A longer value is cut. Without a limit, a template could make a mail of any size. */
const LONGEST_VALUE = 10_000;

export interface FilledMail {
  subject: string;
  text: string;
  html: string;
}

type Reader = ReturnType<typeof MarkdownIt>;
type Token = ReturnType<Reader['parse']>[number];
type ValueOf = (name: string) => string;

function makeReader(): Reader {
  const markdown = MarkdownIt({ html: false, linkify: false, typographer: false });
  // Addresses are checked after their placeholders are filled.
  markdown.validateLink = () => true;
  markdown.normalizeLink = (address) => address;
  return markdown;
}

const reader = makeReader();

/** A placeholder in an address has no blanks: `[Open](https://desk.example.org/{{number}})`. */
function filledAddress(address: string, valueOf: ValueOf): string {
  const whole = /^\{\{[^{}\s]+\}\}$/.test(address);
  const filled = fillTemplate(address, whole ? valueOf : (name) => encodeURIComponent(valueOf(name)));
  return isWebAddress(filled) || /^mailto:[^\s<>"\\]+$/i.test(filled) ? filled : '';
}

/** The tokens with values in the place of placeholders. A value with several lines keeps them. */
function filledTokens(tokens: readonly Token[], valueOf: ValueOf): Token[] {
  return tokens.flatMap((token) => {
    if (token.children !== null) token.children = filledTokens(token.children, valueOf);
    if (token.type === 'link_open') token.attrSet('href', filledAddress(String(token.attrGet('href') ?? ''), valueOf));
    // The text is rendered from the children. Images would tell their server who reads the mail.
    if (token.type === 'image') return [textToken(token, filledChildren(token))];
    if (token.type === 'inline') return [token];
    const content = fillTemplate(token.content, valueOf);
    if (token.type !== 'text') {
      token.content = content;
      return [token];
    }
    return content.split('\n').flatMap((line, index) => {
      const text = textToken(token, line);
      return index === 0 ? [text] : [lineBreak(token), text];
    });
  });
}

function filledChildren(token: Token): string {
  return (token.children ?? []).map(({ content }) => content).join('');
}

function made(like: Token, type: string, tag: string): Token {
  return new (like.constructor as new (type: string, tag: string, nesting: 0) => Token)(type, tag, 0);
}

function textToken(like: Token, content: string): Token {
  const text = made(like, 'text', '');
  text.content = content;
  return text;
}

function lineBreak(like: Token): Token {
  return made(like, 'hardbreak', 'br');
}

/** Markdown as plain text: links become `text: address`; marks that only make letters bold or headings are left out. */
function plainTemplate(markdown: string): string {
  return markdown
    .replace(/!?\[([^\][]{0,200})\]\(([^()\s]{1,500})\)/g, '$1: $2')
    .replace(/\*\*([^*\n]{1,500})\*\*/g, '$1')
    .replace(/^#{1,6}[ \t]+/gm, '');
}

/**
 * Fills subject and body of a template in one language.
 *
 * @param valueOf the text of a field as the recipient may read it; an empty text for all others
 */
export function fillMail(template: { subject: string; body: string }, valueOf: ValueOf): FilledMail {
  const cut: ValueOf = (name) => {
    const value = valueOf(name).replace(/\r\n?/g, '\n');
    return value.length > LONGEST_VALUE ? `${value.slice(0, LONGEST_VALUE).toWellFormed()}…` : value;
  };
  const subject = fillTemplate(template.subject, cut)
    .replace(/[\s\p{Cc}\u2028\u2029]+/gu, ' ')
    .trim();
  return {
    subject: subject.length > LONGEST_SUBJECT ? `${subject.slice(0, LONGEST_SUBJECT - 1).toWellFormed()}…` : subject,
    text: fillTemplate(plainTemplate(template.body), cut),
    html: reader.renderer.render(filledTokens(reader.parse(template.body, {}), cut), reader.options, {}),
  };
}
