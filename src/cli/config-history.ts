/** `docket config`: the versions of the configuration, their differences, and the way back to one. */
import type { Command } from 'commander';
import type { ListedVersion } from '../configuration/store-versions.ts';
import { colored, discardOption, expectedOption, languageOption, readerLanguage, versionNumber } from './bundles.ts';
import { type Environment, type Json, output, usage } from './command.ts';
import { onTarget } from './select-target.ts';

const MAX_NAMED = 5;

/** One line: version, time, author, and the first changed items. */
function lineOf({ version, at, by, summary, items }: ListedVersion): string {
  const total = Object.values(summary).reduce((sum, count) => sum + count, 0);
  const named = items.slice(0, MAX_NAMED).map(({ section, code, action }) => `${action} ${section}/${code}`);
  const more = total > named.length ? [`${total - named.length} more`] : [];
  return `${version}  ${at}  ${by?.displayName ?? 'system'}: ${[...named, ...more].join(', ')}`;
}

interface DiffFlags extends Json {
  markdown?: boolean;
  language?: string;
}

function historyCommands(config: Command, environment: Environment): void {
  config
    .command('version')
    .description('Print the configuration version, for --expected of apply.')
    .option('--json', 'print {version}')
    .action(async (flags: Json, command: Command) => {
      const { current } = await onTarget(environment, command, (target) => target.versions(1));
      output(flags.json === true).result({ version: current }, [String(current)]);
    });
  config
    .command('log')
    .description('List the versions of the configuration, newest first: when, who, and what changed.')
    .option('--page <n>', 'page of 25 versions', usage(pageNumber), 1)
    .option('--json', 'print {current, rows, page, pageSize, hasMore}')
    .action(async (flags: Json & { page: number }, command: Command) => {
      const listed = await onTarget(environment, command, (target) => target.versions(flags.page));
      const more = listed.hasMore ? [`Older versions: --page ${flags.page + 1}`] : [];
      output(flags.json === true).result(listed, [...listed.rows.map(lineOf), ...more]);
    });
  config
    .command('diff')
    .argument('<from>', 'a version', usage(versionNumber))
    .argument('<to>', 'a version', usage(versionNumber))
    .description('Show what changed between two versions of the configuration, value by value.')
    .option('--markdown', 'print Markdown')
    .addOption(languageOption())
    .option('--json', 'print [{section, code, id, action, differences, …}]')
    .action(async (from: number, to: number, flags: DiffFlags, command: Command) => {
      const language = await readerLanguage(flags.language, environment, command);
      const items = await onTarget(environment, command, (target) => target.diff(from, to));
      const color = colored(environment);
      const { planLines, planMarkdown } = await import('./plan-text.ts');
      const text =
        flags.markdown === true ? [planMarkdown(items, { language })] : planLines(items, { color, verb: 'Found' });
      output(flags.json === true).result(items, text);
    });
}

/** @throws Error for a text that is no number of a page */
function pageNumber(text: string): number {
  if (/^[1-9][0-9]{0,5}$/.test(text)) return Number(text);
  throw new Error(`${text} is not a page; the first one is 1.`);
}

interface RestoreFlags extends Json {
  discard?: string[];
  plan?: boolean;
  expected?: number;
}

export function configCommands(docket: Command, environment: Environment): void {
  const config = docket.command('config').description('Versions of the configuration.');
  historyCommands(config, environment);
  config
    .command('restore')
    .argument('<version>', 'a version', usage(versionNumber))
    .description('Apply the configuration as it was at a version; items that came later are archived.')
    .option('--plan', 'only show what would change')
    .addOption(expectedOption())
    .addOption(discardOption())
    .option('--json', 'print [{section, code, id, action, …}]')
    .action(async (version: number, flags: RestoreFlags, command: Command) => {
      const items = await onTarget(environment, command, async (target) => {
        // What is applied is what was planned: nothing may come between the two.
        const expected = flags.expected ?? (await target.versions(1)).current;
        const { files } = await target.exportVersion(version);
        const planned = await target.plan(files, { prune: true });
        const discard = flags.discard === undefined ? {} : { discard: flags.discard };
        if (flags.plan !== true) await target.apply(files, { prune: true, expected, ...discard });
        return planned;
      });
      const { planLines } = await import('./plan-text.ts');
      const verb = flags.plan === true ? 'Would apply' : 'Applied';
      output(flags.json === true).result(items, planLines(items, { verb, color: colored(environment) }));
    });
}
