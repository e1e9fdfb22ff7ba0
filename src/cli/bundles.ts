/** `docket plan`, `docket apply`, `docket export`: configuration as code. */
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type Command, Option } from 'commander';
import type { BundleOptions } from '../configuration/engine.ts';
import type { Comparison } from '../configuration/impact.ts';
import { SCHEMA_FILE, SCHEMA_LINE } from '../configuration/schema-file.ts';
import { readBundleFiles, refuseOthers } from './bundle-files.ts';
import { type Environment, output, reasonOf, several, usage, warn } from './command.ts';
import { onTarget } from './select-target.ts';

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
  refuseIf?: string;
  language?: string;
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
    'a field, option or state that may go with its values, such as types.incident.impact; may be repeated or a list with commas';
  return new Option('--discard <path>', said).argParser(several);
}

export function languageOption(): Option {
  const said = 'with --markdown: language of names and texts, such as ru; default: that of the environment, else en';
  return new Option('--language <language>', said);
}

/** The language of `--language`, else of the environment; ends with wrong usage if it is none. */
export async function readerLanguage(
  wanted: string | undefined,
  { inherited }: Environment,
  command: Command,
): Promise<string> {
  const { environmentLanguage, languageOf } = await import('./reader-language.ts');
  try {
    return wanted === undefined ? environmentLanguage(inherited) : languageOf(wanted);
  } catch (error) {
    return command.error(`--language: ${reasonOf(error)}`, { exitCode: 2 });
  }
}

/** Colours are for people at a terminal; `NO_COLOR` turns them off (https://no-color.org). */
export function colored({ inherited }: Environment): boolean {
  return process.stdout.isTTY && (inherited['NO_COLOR'] ?? '') === '';
}

/** The comparisons of `--refuse-if`; ends with wrong usage if they cannot be read. */
async function comparisons({ refuseIf }: Flags, command: Command): Promise<Comparison[] | undefined> {
  if (refuseIf === undefined) return undefined;
  const { parseRefusal } = await import('../configuration/impact.ts');
  try {
    return parseRefusal(refuseIf);
  } catch (error) {
    return command.error(`--refuse-if: ${reasonOf(error)}`, { exitCode: 2 });
  }
}

export function configurationCommands(docket: Command, environment: Environment): void {
  docket
    .command('plan <dir-or-file>')
    .description('Show what apply would create, change or leave, value by value, without changing anything.')
    .option('--prune', 'also show items that the bundle omits')
    .option('--prune-identity', 'the same for users, groups, units and memberships')
    .option('--impact', 'also show who gains or loses access, which records no longer fit, and what stops working')
    .option('--refuse-if <comparison>', 'exit with 1 for an impact such as "lost-access>0 && broken>0"')
    .addOption(expectedOption())
    .addOption(discardOption())
    .option('--markdown', 'print Markdown for the comment of a pull request')
    .addOption(languageOption())
    .option('--json', 'print [{section, code, id, action, differences, …}]; with --impact {items, impact}')
    .action(async (dir: string, flags: Flags, command: Command) => {
      const { expected, ...wanted } = options(flags);
      const refusals = await comparisons(flags, command);
      const language = await readerLanguage(flags.language, environment, command);
      const files = await readBundleFiles(dir, wanted);
      const { items, impact, pending, current } = await onTarget(environment, command, async (target) => ({
        ...(flags.impact === true || refusals !== undefined
          ? await target.planImpact(files, wanted)
          : { items: await target.plan(files, wanted), impact: undefined }),
        pending: await target.pendingIndexes(),
        current: expected === undefined ? undefined : (await target.versions(1)).current,
      }));
      const { impactLines, impactMarkdown, requireHarmless } = await import('./impact-text.ts');
      const { planLines, planMarkdown, saysPending } = await import('./plan-text.ts');
      const effect = impact === undefined ? [] : impactLines(impact);
      const text =
        flags.markdown === true
          ? [
              planMarkdown(items, {
                language,
                more: impact === undefined ? [] : [impactMarkdown(impact)],
              }),
            ]
          : [...planLines(items, { color: colored(environment) }), ...effect];
      output(flags.json === true).result(impact === undefined ? items : { items, impact }, text);
      // On standard error, because the JSON list is a contract. `doctor --json` has this for scripts.
      if (pending.length > 0) process.stderr.write(`${saysPending(pending)}\n`);
      if (current !== expected) throw new Error(`The configuration has version ${current}, not ${expected}.`);
      if (impact !== undefined && refusals !== undefined) requireHarmless(impact, refusals);
    });
  docket
    .command('apply <dir-or-file>')
    .description('Apply the bundle in one transaction; a running service uses it within a second.')
    .option('--prune', 'also archive items that the bundle omits, except users, groups, units and memberships')
    .option('--prune-identity', 'with --prune: archive those as well')
    .addOption(expectedOption())
    .option('--refuse-if <comparison>', 'refuse for an impact such as "lost-access>0 && broken>0"')
    .addOption(discardOption())
    .option('--json', 'print [{section, code, id, action}]')
    .action(async (dir: string, flags: Flags, command: Command) => {
      const refusals = await comparisons(flags, command);
      const files = await readBundleFiles(dir, options(flags));
      const items = await onTarget(environment, command, async (target) => {
        if (refusals === undefined) return await target.apply(files, options(flags));
        const { impact, configVersion } = await target.planImpact(files, options(flags));
        const { requireHarmless } = await import('./impact-text.ts');
        requireHarmless(impact, refusals, 'Nothing was applied');
        // What is applied is what was examined.
        return await target.apply(files, { expected: configVersion, ...options(flags) });
      });
      const { planLines } = await import('./plan-text.ts');
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
      if (files.length === 0 && flags.section === undefined) files.push({ name: 'types.yaml', text: 'types: []\n' });
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
