/** `docket types`: writes the configured record types as TypeScript, for users of the client. */
import { readFile, writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { type Environment, output } from './command.ts';
import { onTarget } from './select-target.ts';
import type { DeclaredType, DeclaredWorkflow } from './type-declarations.ts';

interface Sections {
  settings?: { defaultLocale?: string };
  types?: DeclaredType[];
  workflows?: DeclaredWorkflow[];
}

async function configured(
  environment: Environment,
  command: Command,
): Promise<Required<Omit<Sections, 'settings'>> & { locale: string }> {
  const { files } = await onTarget(environment, command, (target) => target.export({ identity: false }));
  const { parse } = await import('yaml');
  const sections = files.map(({ text }) => (parse(text) ?? {}) as Sections);
  return {
    types: sections.flatMap(({ types = [] }) => types),
    workflows: sections.flatMap(({ workflows = [] }) => workflows),
    locale: sections.find(({ settings }) => settings?.defaultLocale !== undefined)?.settings?.defaultLocale ?? 'ru-RU',
  };
}

export function typesCommand(docket: Command, environment: Environment): void {
  docket
    .command('types [file]')
    .description('Write TypeScript types of the configured record types for users of the client package.')
    .option('--check', 'write nothing; fail if the file is out of date')
    .option('--json', 'print {file, types, text}; text only if no file is given')
    .action(async (file: string | undefined, flags: { check?: boolean; json?: boolean }, command: Command) => {
      if (flags.check === true && file === undefined) command.error('--check needs a file', { exitCode: 2 });
      const { types, workflows, locale } = await configured(environment, command);
      const { typeDeclarations } = await import('./type-declarations.ts');
      const text = typeDeclarations(types, workflows, locale);
      const out = output(flags.json === true);
      const codes = types.map(({ code }) => code);
      if (file === undefined) {
        out.result({ file: null, types: codes, text }, text.trimEnd().split('\n'));
        return;
      }
      if (flags.check === true) {
        const written = await readFile(file, 'utf8').catch(() => '');
        if (written !== text) throw new Error(`${file} is out of date; run \`docket types ${file}\`.`);
        out.result({ file, types: codes }, [`${file} is up to date.`]);
        return;
      }
      await writeFile(file, text);
      out.result({ file, types: codes }, [`Wrote ${codes.length} record types to ${file}.`]);
    });
}
