/** The rules of `promtool check metrics` over a scrape in Prometheus' text form, so that the tests need no Prometheus. */

interface Family {
  help: number;
  type: string | undefined;
  types: number;
}

const BASE_UNITS: readonly (readonly [base: string, others: RegExp])[] = [
  ['seconds', /^(?:(?:milli|micro|nano)seconds?|minutes?|hours?|days?|weeks?)$/],
  ['bytes', /^(?:bits?|(?:kilo|mega|giga|tera|kibi|mebi|gibi)(?:bytes?|bits?))$/],
  ['ratio', /^percent(?:age)?s?$/],
];
const ABBREVIATIONS = /^(?:s|ms|us|ns|sec|b|kb|mb|gb|tb|pb|m|h|d)$/;
const TYPES: ReadonlySet<string> = new Set(['gauge', 'counter', 'histogram', 'summary']);

/** @returns a line for each rule that is broken */
export function lintMetrics(text: string): string[] {
  const families = new Map<string, Family>();
  const problems = new Set<string>();
  const samples = new Set<string>();
  const closed = new Set<string>();
  let present: string | undefined;
  const family = (name: string): Family => {
    const known = families.get(name) ?? { help: 0, type: undefined, types: 0 };
    families.set(name, known);
    return known;
  };
  for (const line of text.split('\n')) {
    const [, kind, described = '', rest = ''] = /^# (HELP|TYPE) (\S+) ?(.*)$/.exec(line) ?? [];
    if (kind === 'HELP' && rest !== '') family(described).help++;
    if (kind === 'TYPE') {
      family(described).type = rest;
      family(described).types++;
    }
    const [, name, labels = ''] = /^([A-Za-z_:][\w:]*)(\{.*\})? /.exec(line) ?? [];
    if (name === undefined) continue;
    const base = name.replace(/_(?:bucket|sum|count)$/, '');
    const isPart = families.get(base)?.type === 'histogram' || families.get(base)?.type === 'summary';
    const owner = isPart ? base : name;
    family(owner);
    if (owner !== present && present !== undefined) closed.add(present);
    if (closed.has(owner)) problems.add(`${owner}: its samples do not stand together`);
    present = owner;
    if (samples.has(name + labels)) problems.add(`${name}: occurs twice`);
    samples.add(name + labels);
    const type = families.get(owner)?.type;
    if (labels.includes('quantile="') && type !== 'summary') {
      problems.add(`${owner}: only a summary has the label quantile`);
    }
    if (/[{,]le="/.test(labels) && type !== 'histogram') problems.add(`${owner}: only a histogram has the label le`);
  }
  for (const [name, { help, type, types }] of families) {
    for (const problem of problemsOf(name, help, type, types)) problems.add(`${name}: ${problem}`);
  }
  return [...problems];
}

function problemsOf(name: string, help: number, type: string | undefined, types: number): string[] {
  const problems: string[] = [];
  if (help === 0) problems.push('no help text');
  if (type === undefined) problems.push('no type');
  if (help > 1 || types > 1) problems.push('described twice');
  if (type === 'counter' && !name.endsWith('_total')) problems.push('a counter ends with _total');
  if (type !== undefined && type !== 'counter' && name.endsWith('_total')) {
    problems.push('only a counter ends with _total');
  }
  const part = /_(?:bucket|sum|count)$/.exec(name)?.[0];
  if (part !== undefined) problems.push(`only a histogram or a summary ends with ${part}`);
  if (!/^[a-z][a-z0-9_]*$/.test(name)) problems.push('use lower case with underscores');
  for (const word of name.split('_')) {
    for (const [base, others] of BASE_UNITS) if (others.test(word)) problems.push(`use the base unit ${base}`);
    if (TYPES.has(word)) problems.push(`the name holds the type ${word}`);
  }
  const last =
    name
      .replace(/_total$/, '')
      .split('_')
      .at(-1) ?? '';
  if (name.includes('_') && ABBREVIATIONS.test(last)) problems.push(`spell the unit ${last} out`);
  return problems;
}
