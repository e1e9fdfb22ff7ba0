/** Merges the metrics of several processes into one exposition. Prometheus requires each family once and distinct series. */

interface Part {
  process: string;
  /** Prometheus text format; null if the process did not answer. */
  text: string | null;
}

interface Family {
  head: string[];
  samples: string[];
}

const SAMPLE = /^([A-Za-z_:][A-Za-z0-9_:]*)(\{)?/;
const HEAD = /^# (?:HELP|TYPE|UNIT) (\S+)/;
const OF_FAMILY = /_(?:bucket|sum|count|total|created|info)$/;

/** Merges all parts: one block per family, each sample with the label `process`, and `docket_process_up` per process. */
export function mergeMetrics(parts: readonly Part[]): string {
  const families = new Map<string, Family>();
  const up = familyOf(families, 'docket_process_up');
  up.head.push('# HELP docket_process_up Whether the process gave its figures.', '# TYPE docket_process_up gauge');
  for (const { process, text } of parts) {
    const label = `process="${process}"`;
    up.samples.push(`docket_process_up{${label}} ${text === null ? 0 : 1}`);
    addPart(families, label, text ?? '');
  }
  const lines = [...families.values()].flatMap(({ head, samples }) => [...head, ...samples]);
  return `${lines.join('\n')}\n`;
}

function addPart(families: Map<string, Family>, label: string, text: string): void {
  const told = new Set<string>();
  for (const line of text.split('\n')) {
    const family = HEAD.exec(line)?.[1];
    if (family !== undefined) {
      told.add(family);
      const { head } = familyOf(families, family);
      // All processes run the same version, so the HELP and TYPE lines of the first are used.
      if (!head.some((one) => one.split(' ', 3).join(' ') === line.split(' ', 3).join(' '))) head.push(line);
      continue;
    }
    const [, name, labelled] = SAMPLE.exec(line) ?? [];
    if (name === undefined) continue;
    const short = name.replace(OF_FAMILY, '');
    const samples = familyOf(families, told.has(name) || !told.has(short) ? name : short).samples;
    const rest = line.slice(name.length + (labelled === undefined ? 0 : 1));
    const separator = labelled === undefined ? '}' : rest.startsWith('}') ? '' : ',';
    samples.push(`${name}{${label}${separator}${rest}`);
  }
}

function familyOf(families: Map<string, Family>, name: string): Family {
  const known = families.get(name);
  if (known !== undefined) return known;
  const family: Family = { head: [], samples: [] };
  families.set(name, family);
  return family;
}
