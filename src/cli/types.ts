/** `docket types`: writes the configured record types as TypeScript, for users of the client. */
import { readFile, writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { parse } from 'yaml';
import { exportBundle } from '../configuration/engine.ts';
import type { Environment } from './environment.ts';
import { output } from './output.ts';
import { openTool } from './service.ts';
import { type DeclaredType, type DeclaredWorkflow, typeDeclarations } from './type-declarations.ts';

interface Sections {
  settings?: { defaultLocale?: string };
  types?: DeclaredType[];
  workflows?: DeclaredWorkflow[];
}

async function configured(
  environment: Environment,
): Promise<Required<Omit<Sections, 'settings'>> & { locale: string }> {
  const tool = await openTool(environment.settings(), () => {});
  try {
    const files = await tool.work.read(tool.caller, (ctx) => exportBundle(ctx, tool.sections, { identity: false }), {
      snapshot: true,
    });
    const sections = files.map(({ text }) => (parse(text) ?? {}) as Sections);
    return {
      types: sections.flatMap(({ types = [] }) => types),
      workflows: sections.flatMap(({ workflows = [] }) => workflows),
      locale:
        sections.find(({ settings }) => settings?.defaultLocale !== undefined)?.settings?.defaultLocale ?? 'ru-RU',
    };
  } finally {
    await tool.close();
  }
}

export function typesCommand(docket: Command, environment: Environment): void {
  docket
    .command('types [file]')
    .description('Write TypeScript types of the configured record types, for programs that use the client.')
    .option('--check', 'write nothing; fail if the file is not what would be written')
    .option('--json', 'print {file, types, text}, the text only without a file')
    .action(async (file: string | undefined, flags: { check?: boolean; json?: boolean }, command: Command) => {
      if (flags.check === true && file === undefined) command.error('--check needs a file', { exitCode: 2 });
      const { types, workflows, locale } = await configured(environment);
      const text = typeDeclarations(types, workflows, locale);
      const out = output(flags.json === true);
      const codes = types.map(({ code }) => code);
      if (file === undefined) {
        out.result({ file: null, types: codes, text }, text.trimEnd().split('\n'));
        return;
      }
      if (flags.check === true) {
        const written = await readFile(file, 'utf8').catch(() => '');
        if (written !== text)
          throw new Error(`${file} is not what the configuration says; run \`docket types ${file}\`.`);
        out.result({ file, types: codes }, [`${file} is up to date.`]);
        return;
      }
      await writeFile(file, text);
      out.result({ file, types: codes }, [`Wrote ${codes.length} record types to ${file}.`]);
    });
}
