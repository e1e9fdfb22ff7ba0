/** The impact of a plan as text, and the refusal of an apply for its impact. */
import {
  type AccessCount,
  type Comparison,
  type FieldAccessChange,
  type Impact,
  refuses,
} from '../configuration/impact.ts';
import { printable } from './command.ts';
import { codeFence } from './plan-text.ts';

/** Lines of each list. */
const MAX_LINES = 50;

const named = (examples: AccessCount['examples']): string =>
  examples.length === 0 ? '' : ` (${examples.map(({ id, number }) => number ?? id).join(', ')})`;

function accessText({ type, gained, lost, writable, examples }: AccessCount): string {
  const parts = [
    [lost, 'no longer readable'],
    [gained, 'become readable'],
    [writable.lost, 'no longer writable'],
    [writable.gained, 'become writable'],
  ] as const;
  const said = parts.flatMap(([count, words]) => (count === 0 ? [] : [`${count} ${words}`]));
  return `${type}: ${said.join(', ')}${named(examples)}`;
}

function fieldText({ type, field, access, change, records, examples }: FieldAccessChange): string {
  const on = records === 0 ? '' : ` on ${records} records${named(examples)}`;
  return `${type}.${field}: ${change} ${access === 'read' ? 'reading' : 'writing'}${on}`;
}

/** Lines for a terminal, without colours. */
export function impactLines(impact: Impact): string[] {
  return [...detailLines(impact), ...sumLines(impact)];
}

function detailLines(impact: Impact): string[] {
  const lines: string[] = [];
  const add = (title: string, items: readonly string[]): void => {
    if (items.length === 0) return;
    lines.push(`${title}:`, ...items.slice(0, MAX_LINES).map((item) => `  ${printable(item)}`));
    if (items.length > MAX_LINES) lines.push(`  ${items.length - MAX_LINES} more`);
  };
  const access = ({ records, fields }: Pick<Impact['roles'][number], 'records' | 'fields'>): string[] => [
    ...records.map(accessText),
    ...fields.map(fieldText),
  ];
  for (const role of impact.roles) add(`Role ${printable(role.role)}`, access(role));
  for (const person of impact.people) add(`User ${printable(person.login)}`, access(person));
  const unlisted = impact.affectedPeople - impact.people.length;
  if (unlisted > 0) lines.push(`${unlisted} more users are affected.`);
  add('Records that no longer fit', [
    ...impact.constraints.map(({ path, records, examples }) => `${path}: ${records}${named(examples)}`),
    ...impact.states.map(({ type, state, records, examples }) => `${type} in ${state}: ${records}${named(examples)}`),
  ]);
  add(
    'Due times that move',
    impact.sla.map(
      ({ policy, moved, earliest, breachedAtOnce }) =>
        `${policy}: ${moved}, earliest ${earliest ?? 'none'}, ${breachedAtOnce} breached at once`,
    ),
  );
  add(
    'Stops working',
    impact.broken.map(({ section, code, reason }) => `${section}/${code}: ${reason}`),
  );
  return lines;
}

function sumLines(impact: Impact): string[] {
  const totals = Object.entries(impact.totals).map(([name, count]) => `${name} ${count}`);
  const lines = [`Impact: ${totals.join(', ')}.`];
  if (!impact.exact) {
    const bound = impact.errorBound === null ? 'time ran out before all was counted' : `± ${impact.errorBound}`;
    lines.push(`The counts are not exact: ${bound}.`);
  }
  if (!impact.complete) lines.push('Only records that you may read were counted: the right role.assign is missing.');
  return lines;
}

/** Characters of the details in a comment; the rest of it is for the plan. */
const MAX_CHARACTERS = 25_000;

/** A section of Markdown, at most about 26,000 characters long; the text stands in code. */
export function impactMarkdown(impact: Impact): string {
  const details = detailLines(impact);
  let length = 0;
  const shown = details.findIndex((line) => (length += line.length + 1) > MAX_CHARACTERS);
  const rest = shown === -1 ? [] : [`${details.length - shown} more lines; run docket plan --impact to see them.`];
  const lines = [...(shown === -1 ? details : details.slice(0, shown)), ...rest, ...sumLines(impact)];
  return `\n#### Impact\n\n${codeFence(lines.join('\n'), 'text')}\n`;
}

/**
 * @param outcome a clause for the message, if something was not done
 * @throws Error if the impact meets the comparisons, or cannot be judged as a whole
 */
export function requireHarmless(impact: Impact, comparisons: readonly Comparison[], outcome?: string): void {
  const also = outcome === undefined ? '' : ` ${outcome}.`;
  if (!impact.complete) {
    throw new Error(`--refuse-if needs the right role.assign: without it not all records are counted.${also}`);
  }
  if (comparisons.some(({ measure }) => impact.totalErrors[measure] === null)) {
    throw new Error(`--refuse-if: time ran out before the whole impact was counted.${also}`);
  }
  if (!refuses(comparisons, impact)) return;
  const found = comparisons.map(({ text, measure }) => {
    const error = impact.totalErrors[measure] ?? 0;
    return `${text} (${impact.totals[measure]}${error === 0 ? '' : ` ± ${error}`})`;
  });
  throw new Error(`Refused because of ${found.join(' && ')}.${also}`);
}
