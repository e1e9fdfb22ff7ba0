/** `docket plan`, `docket apply`, `docket export`: configuration as code. */
import { isUtf8 } from 'node:buffer';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Command, Option } from 'commander';
import { SCHEMA_FILE, SCHEMA_LINE } from '../configuration/bundle-schema.ts';
import { BundleError, type BundleFile, type BundleOptions, type PlannedItem } from '../configuration/engine.ts';
import type { PendingIndex } from '../configuration/field-indexes.ts';
import { type Comparison, parseRefusal } from '../configuration/impact.ts';
import { problem } from '../lib/problem.ts';
import { type Environment, output, several, usage, warn } from './command.ts';
import { applyFiles } from './local.ts';
import { impactLines, impactMarkdown, requireHarmless } from './impact-text.ts';
import { planLines, planMarkdown } from './plan-text.ts';
import { onTarget } from './select-target.ts';
import type { Tool } from './service.ts';

const NEW_LINE = 0x0a;

/**
 * The YAML files of a folder, sorted by name, or one file.
 *
 * @throws Error with a message for the user: also for one file with `prune`, which would archive what the other files hold
 */
async function readBundleFiles(place: string, { prune }: BundleOptions): Promise<BundleFile[]> {
  if (!place.endsWith('.yaml')) return await readFolder(place);
  if (prune === true) {
    throw new Error(`${place} is a part of a bundle; --prune would archive the other parts. Give the folder.`);
  }
  const name = path.basename(place);
  return [{ name, text: utf8(name, await readFile(place)) }];
}

async function readFolder(folder: string): Promise<BundleFile[]> {
  let names: string[];
  try {
    names = await readdir(folder);
  } catch {
    throw new Error(`${folder} is not a readable folder; give the folder with the *.yaml files.`);
  }
  const chosen = bundleFiles(names);
  if (chosen.length === 0) throw new Error(`${folder} contains no *.yaml file; give the folder of a bundle.`);
  return await Promise.all(
    chosen.map(async (name) => ({ name, text: utf8(name, await readFile(path.join(folder, name))) })),
  );
}

export function bundleFiles(names: readonly string[]): string[] {
  return names.filter((name) => name.endsWith('.yaml')).sort();
}

/** Rejects files that are not UTF-8: they would be stored with replacement characters. */
function utf8(file: string, bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString('utf8');
  let start = 0;
  for (let line = 1; ; line++) {
    const end = bytes.indexOf(NEW_LINE, start);
    if (!isUtf8(bytes.subarray(start, end === -1 ? bytes.length : end))) {
      throw new BundleError([{ file, line, column: 1, path: '', ...problem('NOT_UTF8') }]);
    }
    start = end + 1;
  }
}

export function starterFolder(name: string): string {
  return fileURLToPath(new URL(`../../config/${name}`, import.meta.url));
}

/** Applies the bundle of a folder in one transaction. @throws BundleError, Fault */
export async function applyFolder(
  tool: Pick<Tool, 'work' | 'caller' | 'sections'>,
  folder: string,
  options: BundleOptions,
): Promise<PlannedItem[]> {
  return await applyFiles(tool, await readFolder(folder), options);
}

interface Flags {
  json?: boolean;
  markdown?: boolean;
  prune?: boolean;
  pruneIdentity?: boolean;
  discard?: string[];
  identity?: boolean;
  expected?: number;
  section?: string[];
  impact?: boolean;
  refuseIf?: Comparison[];
}

function options(flags: Flags): BundleOptions {
  return {
    prune: flags.prune === true,
    pruneIdentity: flags.pruneIdentity === true,
    ...(flags.discard === undefined ? {} : { discard: flags.discard }),
    ...(flags.expected === undefined ? {} : { expected: flags.expected }),
  };
}

/** @throws Error for a text that is no configuration version */
export function versionNumber(text: string): number {
  if (/^[1-9][0-9]{0,14}$/.test(text)) return Number(text);
  throw new Error(`${text} is not a configuration version; \`docket config log\` lists them.`);
}

export function expectedOption(): Option {
  const option = new Option(
    '--expected <version>',
    'refuse if the configuration has another version (docket config version)',
  );
  return option.argParser(usage(versionNumber));
}

export function discardOption(): Option {
  const said =
    'a field or option whose values may be lost, such as types.incident.impact; may be repeated or a list with commas';
  return new Option('--discard <path>', said).argParser(several);
}

/** Colours are for people at a terminal; `NO_COLOR` turns them off (https://no-color.org). */
export function colored({ inherited }: Environment): boolean {
  return process.stdout.isTTY && (inherited['NO_COLOR'] ?? '') === '';
}

/** Refuses to export into a folder with other YAML files: they would later be read and applied as part of the bundle. */
function refuseOthers(dir: string, names: readonly string[], written: ReadonlySet<string>): void {
  const others = bundleFiles(names).filter((name) => !written.has(name));
  if (others.length === 0) return;
  throw new Error(
    `${dir} holds ${others.join(', ')}, which would be read together with what is exported; nothing was written. Name ` +
      'another folder, or take them away.',
  );
}

export function configurationCommands(docket: Command, environment: Environment): void {
  docket
    .command('plan <dir-or-file>')
    .description('Show what apply would create, change or leave, value by value, without changing anything.')
    .option('--prune', 'also show items that the bundle omits')
    .option('--prune-identity', 'the same for users, groups, units and memberships')
    .option('--impact', 'also show who gains or loses access, which records no longer fit, and what stops working')
    .option(
      '--refuse-if <comparison>',
      'exit with 1 for an impact such as "lost-access>0 && broken>0"',
      usage(parseRefusal),
    )
    .addOption(expectedOption())
    .addOption(discardOption())
    .option('--markdown', 'print Markdown for the comment of a pull request')
    .option('--json', 'print [{section, code, id, action, differences, …}]; with --impact {items, impact}')
    .action(async (dir: string, flags: Flags, command: Command) => {
      const { expected, ...wanted } = options(flags);
      const files = await readBundleFiles(dir, wanted);
      const { items, impact, pending, current } = await onTarget(environment, command, async (target) => ({
        ...(flags.impact === true || flags.refuseIf !== undefined
          ? await target.planImpact(files, wanted)
          : { items: await target.plan(files, wanted), impact: undefined }),
        pending: await target.pendingIndexes(),
        current: expected === undefined ? undefined : (await target.versions(1)).current,
      }));
      const effect = impact === undefined ? [] : impactLines(impact);
      const text =
        flags.markdown === true
          ? [planMarkdown(items, impact === undefined ? [] : [impactMarkdown(impact)])]
          : [...planLines(items, { color: colored(environment) }), ...effect];
      output(flags.json === true).result(impact === undefined ? items : { items, impact }, text);
      // On standard error, because the JSON list is a contract. `doctor --json` has this for scripts.
      if (pending.length > 0) process.stderr.write(`${saysPending(pending)}\n`);
      if (current !== expected) throw new Error(`The configuration has version ${current}, not ${expected}.`);
      if (impact !== undefined && flags.refuseIf !== undefined) requireHarmless(impact, flags.refuseIf);
    });
  docket
    .command('apply <dir-or-file>')
    .description('Apply the bundle in one transaction; a running service uses it within a second.')
    .option('--prune', 'also archive items that the bundle omits, except users, groups, units and memberships')
    .option('--prune-identity', 'with --prune: archive those as well')
    .addOption(expectedOption())
    .option('--refuse-if <comparison>', 'refuse for an impact such as "lost-access>0 && broken>0"', usage(parseRefusal))
    .addOption(discardOption())
    .option('--json', 'print [{section, code, id, action}]')
    .action(async (dir: string, flags: Flags, command: Command) => {
      const files = await readBundleFiles(dir, options(flags));
      const items = await onTarget(environment, command, async (target) => {
        if (flags.refuseIf === undefined) return await target.apply(files, options(flags));
        const { impact, configVersion } = await target.planImpact(files, options(flags));
        requireHarmless(impact, flags.refuseIf, 'Nothing was applied');
        // What is applied is what was examined.
        return await target.apply(files, { expected: configVersion, ...options(flags) });
      });
      output(flags.json === true).result(items, planLines(items, { verb: 'Applied', color: colored(environment) }));
    });
  docket
    .command('export <dir>')
    .description('Write the current configuration as a bundle.')
    .option('--identity', 'include users, groups, units and memberships')
    .option(
      '--section <name>',
      'only this section; may be repeated or a list with commas; other files of the folder stay',
      several,
    )
    .option('--json', 'print {files}')
    .action(async (dir: string, flags: Flags, command: Command) => {
      const { files, leftOut, schema } = await onTarget(environment, command, async (target) => ({
        ...(await target.export({ identity: flags.identity === true, only: flags.section })),
        schema: await target.schema(),
      }));
      if (leftOut.length > 0) {
        warn(`left out: ${leftOut.join(', ')}; the owner of the key may not read them.`);
      }
      // A section that was named and has no items: its file must not keep what was there before.
      for (const key of flags.section ?? []) {
        const name = `${key}.yaml`;
        const has = files.some((file) => file.name === name) || leftOut.includes(key) || key === 'settings';
        if (!has) files.push({ name, text: `${key}: []\n` });
      }
      // An export without any item must also be a bundle that `plan` and `apply` accept.
      if (files.length === 0 && flags.section === undefined)
        files.push({ name: 'settings.yaml', text: '# Nothing is configured.\n' });
      // The names come from the service; one such as `../x` would be written elsewhere.
      const odd = files.find(({ name }) => !/^[A-Za-z]+\.yaml$/.test(name));
      if (odd !== undefined) throw new Error(`The service sent a file with the name ${JSON.stringify(odd.name)}.`);
      await mkdir(dir, { recursive: true });
      // A part of a bundle belongs to the files that are there already.
      if (flags.section === undefined) refuseOthers(dir, await readdir(dir), new Set(files.map(({ name }) => name)));
      const head = schema === undefined ? '' : SCHEMA_LINE;
      for (const file of files) await writeFile(path.join(dir, file.name), head + file.text);
      if (schema !== undefined) await writeFile(path.join(dir, SCHEMA_FILE), schema);
      const names = files.map((file) => file.name);
      output(flags.json === true).result({ files: names }, [`Wrote ${names.join(', ')} to ${dir}.`]);
    });
}

const MOST_NAMED = 5;

export function saysPending(pending: readonly PendingIndex[]): string {
  const named = pending
    .slice(0, MOST_NAMED)
    .map(({ action, name, type, field }) => (type === undefined ? `${action} ${name}` : `${type}.${field}`));
  const more = pending.length > named.length ? ', …' : '';
  return `${pending.length} field indexes pending (${named.join(', ')}${more}); a running service builds them`;
}
