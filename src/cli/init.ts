/** `docket init`: writes a commented start of a bundle. Needs no service. */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type Command, Option } from 'commander';
import { SCHEMA_FILE, SCHEMA_LINE } from '../configuration/schema-file.ts';
import { bundleFiles, starterFolder } from './bundle-files.ts';
import { type Json, output } from './command.ts';

/** Folders below `config` whose files make a template. */
const TEMPLATES = {
  itsm: ['itsm', 'catalogue'],
  hr: ['templates/common', 'templates/hr'],
  facilities: ['templates/common', 'templates/facilities'],
  bugs: ['templates/common', 'templates/bugs'],
} as const;

type Template = keyof typeof TEMPLATES;

/** The names of the templates. */
export const TEMPLATE_NAMES = Object.keys(TEMPLATES) as readonly Template[];

/** @throws Error if the folder is not empty: files in it would be applied with the template, or be overwritten */
async function requireEmpty(dir: string): Promise<void> {
  const names = await readdir(dir).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  if (names.length === 0) return;
  throw new Error(`${dir} is not empty; nothing was written. Name a new folder.`);
}

/** Writes the files of a template. @returns their names */
async function writeTemplate(dir: string, template: Template): Promise<string[]> {
  const { bundleSchemaText } = await import('../configuration/bundle-schema.ts');
  const { sectionsFor } = await import('./service.ts');
  await mkdir(dir, { recursive: true });
  const names: string[] = [];
  for (const folder of TEMPLATES[template].map(starterFolder)) {
    for (const name of bundleFiles(await readdir(folder))) {
      await writeFile(path.join(dir, name), SCHEMA_LINE + (await readFile(path.join(folder, name), 'utf8')));
      names.push(name);
    }
  }
  // Addresses play no part in the schema.
  await writeFile(path.join(dir, SCHEMA_FILE), bundleSchemaText(sectionsFor({ webhookAllowPrivate: false })));
  return names.sort();
}

export function initCommand(docket: Command): void {
  docket
    .command('init <dir>')
    .description('Write a commented bundle to start from into a new folder.')
    .addOption(new Option('--template <name>', 'what the bundle is for').choices(TEMPLATE_NAMES).makeOptionMandatory())
    .option('--json', 'print {template, files}')
    .action(async (dir: string, { template, json }: Json & { template: Template }) => {
      await requireEmpty(dir);
      const files = await writeTemplate(dir, template);
      output(json === true).result({ template, files }, [
        `Wrote ${files.join(', ')} and ${SCHEMA_FILE} to ${dir}.`,
        `Next: edit the files, then run "docket plan ${dir}" and "docket apply ${dir}".`,
        'A service started with DOCKET_STARTER=none has no other configuration.',
      ]);
    });
}
