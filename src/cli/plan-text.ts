/** The text of a plan for a terminal and for the comment of a pull request. Pure. */
import type { PlannedChange, PlannedItem } from '../configuration/engine.ts';
import type { Difference } from '../configuration/differences.ts';
import type { PendingIndex } from '../configuration/field-indexes.ts';
import { printable } from './command.ts';
import { differencesIn } from './reader-language.ts';
import { excerpts } from '../lib/excerpts.ts';

/** A line of a plan, with or without the differences in the item. */
type Line = PlannedItem & Partial<Pick<PlannedChange, 'differences' | 'moreDifferences'>>;

const COLORS = { create: 32, restore: 32, change: 33, archive: 31, leave: 2, '+': 32, '-': 31, '~': 33 } as const;

/** Characters of one value, in the terminal and in a comment. */
const VALUE = 300;

/** Characters of a comment. GitHub accepts 65,536, GitLab more. */
const COMMENT = 60_000;

/** The value before and after, cut around the first difference; empty where there is none. */
function valueTexts({ before, after }: Difference): [string, string] {
  const text = (value: unknown): string => (value === undefined ? '' : printable(JSON.stringify(value)));
  return excerpts(text(before), text(after), { most: VALUE, whole: (length) => `${length} characters` });
}

interface Row {
  sign: '+' | '-' | '~';
  text: string;
}

function rowOf(difference: Difference): Row {
  const { path, before, after } = difference;
  const place = path === '' ? 'item' : printable(path);
  const [old, now] = valueTexts(difference);
  if (before === undefined) return { sign: '+', text: `${place}: ${now}` };
  if (after === undefined) return { sign: '-', text: `${place}: ${old}` };
  return { sign: '~', text: `${place}: ${old} → ${now}` };
}

/** What is to be known beside the differences: notes, and the version of a record type. */
function remarksOf({ version, notes = [], action, differences, moreDifferences = 0 }: Line): string[] {
  const remarks = notes.map(({ message }) => message);
  if (version?.compatible === true) remarks.unshift(`version ${version.to} stays: stored records fit`);
  if (version?.compatible === false) {
    remarks.unshift(`version ${version.to} is new: ${version.reasons.join('; ')}`);
  }
  if (moreDifferences > 0) remarks.push(`${moreDifferences} more differences`);
  if (action === 'change' && differences?.length === 0 && moreDifferences === 0) {
    remarks.push('the item itself stays the same: something that it refers to changes');
  }
  return remarks.map(printable);
}

const nameOf = ({ section, code }: Line): string => printable(`${section}/${code}`);

/** Items that change, and unchanged ones with a remark, for example that they stay archived. */
function shown(items: readonly Line[]): Line[] {
  return items.filter(({ action, notes = [] }) => action !== 'leave' || notes.length > 0);
}

function changesIn(items: readonly Line[]): number {
  return items.filter(({ action }) => action !== 'leave').length;
}

/**
 * Lines for a terminal.
 *
 * @param options.verb what happened to the changes
 * @param options.color whether to use ANSI colours
 */
export function planLines(
  items: readonly Line[],
  options: { verb?: 'Would apply' | 'Applied' | 'Found'; color?: boolean } = {},
): string[] {
  const paint = (text: string, color: keyof typeof COLORS): string =>
    options.color === true ? `\u001b[${COLORS[color]}m${text}\u001b[0m` : text;
  const changes = changesIn(items);
  const rest = `${items.length - changes} unchanged`;
  return [
    ...shown(items).flatMap((item) => [
      `${paint(item.action.padEnd(8), item.action)} ${nameOf(item)}`,
      ...remarksOf(item).map((text) => `           ${text}`),
      ...(item.differences ?? []).map(rowOf).map(({ sign, text }) => `         ${paint(`${sign} ${text}`, sign)}`),
    ]),
    changes === 0 ? `Nothing to change; ${rest}.` : `${options.verb ?? 'Would apply'} ${changes} changes; ${rest}.`,
  ];
}

/** A fence or code span must be longer than any run of backticks in its content. */
function fence(content: string, least: number): string {
  const longest = Math.max(0, ...[...content.matchAll(/`+/g)].map(([run]) => run.length));
  return '`'.repeat(Math.max(least, longest + 1));
}

function codeSpan(text: string): string {
  const ticks = fence(text, 1);
  return ticks.length > 1 ? `${ticks} ${text} ${ticks}` : `${ticks}${text}${ticks}`;
}

function markdownOf(item: Line, language: string): string {
  const rows = differencesIn(item.differences ?? [], language).flatMap((difference) => {
    const place = difference.path === '' ? 'item' : printable(difference.path);
    const [old, now] = valueTexts(difference);
    return [
      ...(difference.before === undefined ? [] : [`- ${place}: ${old}`]),
      ...(difference.after === undefined ? [] : [`+ ${place}: ${now}`]),
    ];
  });
  const content = [...remarksOf(item).map((text) => `# ${text}`), ...rows].join('\n');
  const head = `**${item.action}** ${codeSpan(nameOf(item))}\n`;
  return content === '' ? head : `${head}\n${codeFence(content, 'diff')}\n`;
}

/** A fenced block that the content cannot end. */
export function codeFence(content: string, language: string): string {
  const ticks = fence(content, 3);
  return `${ticks}${language}\n${content}\n${ticks}`;
}

/**
 * GitHub-flavoured Markdown for a comment, at most 60,000 characters. Everything that people wrote stands in code, so that
 * nothing in it is a link, a mention or markup.
 *
 * @param options.language of texts that the configuration has in several
 * @param options.more further sections in Markdown, such as the impact
 */
export function planMarkdown(
  items: readonly Line[],
  { language, more = [] }: { language: string; more?: readonly string[] },
): string {
  const changes = changesIn(items);
  const rest = `${items.length - changes} unchanged`;
  const head = changes === 0 ? `### Docket: nothing to change; ${rest}` : `### Docket: ${changes} changes; ${rest}`;
  const parts = [head, ...more];
  let length = parts.join('\n').length;
  const all = shown(items);
  for (const [index, item] of all.entries()) {
    const text = markdownOf(item, language);
    length += text.length + 1;
    if (length > COMMENT) {
      parts.push(`${all.length - index} more items are not shown. Run \`docket plan\` to see them.`);
      break;
    }
    parts.push(text);
  }
  return `${parts.join('\n')}`.trimEnd();
}

const MAX_NAMED = 5;

export function saysPending(pending: readonly PendingIndex[]): string {
  const named = pending
    .slice(0, MAX_NAMED)
    .map(({ action, name, type, field }) => (type === undefined ? `${action} ${name}` : `${type}.${field}`));
  const more = pending.length > named.length ? ', …' : '';
  return `${pending.length} field indexes pending (${named.join(', ')}${more}); a running service builds them`;
}
