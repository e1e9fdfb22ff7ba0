/**
 * `npm run demo`: a Docket filled with the records of a small company, to look around before anything is configured. It has a
 * database, files and a port of its own; nothing of another Docket is read or changed. Ctrl-C stops it.
 */
import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { chooseLanguage, readDemo } from './content.ts';
import { fill, PASSWORD } from './fill.ts';
import { firstKey, startService } from './service.ts';

const USAGE = `npm run demo -- [--language ru|en] [--port N] [--folder FOLDER] [--reset]

  --language  language of the content; default: that of the environment (LC_ALL, LC_MESSAGES, LANG)
  --port      default: 8090, or a free one if that is taken
  --folder    where its data is stored; default: demo/data
  --reset     delete the data and fill it again`;

const OPTIONS = {
  language: { type: 'string' },
  port: { type: 'string' },
  folder: { type: 'string', default: path.join(import.meta.dirname, 'data') },
  reset: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;

const say = (line: string): void => void process.stdout.write(`${line}\n`);

async function run(): Promise<void> {
  const { values } = parseArgs({ options: OPTIONS });
  if (values.help) return say(USAGE);
  const language = chooseLanguage(values.language, process.env);
  const demo = await readDemo(language);
  const folder = path.join(values.folder, language);
  // Written last: a start that was interrupted is filled from the beginning.
  const filled = path.join(folder, 'filled');
  if (values.reset || !existsSync(filled)) await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  say(`Starting ${demo.texts.company} in ${path.relative('', folder)} …`);
  const service = await startService({ folder, port: values.port });
  if (!existsSync(filled)) {
    say('Filling it with people and records, which takes about half a minute …');
    try {
      await fill(demo, service.url, await firstKey(service.settings));
      await writeFile(filled, '');
    } catch (error) {
      service.stop();
      await service.ended;
      throw error;
    }
  }
  const width = Math.max(...Object.values(demo.company.signIn).map((login) => login.length));
  say(`\n  Open       ${service.url}\n  Password   ${PASSWORD} (for everybody)\n`);
  for (const [role, login] of Object.entries(demo.company.signIn)) {
    say(`  ${login.padEnd(width)}   ${demo.texts.roles[role]}: ${demo.texts.people[login]}`);
  }
  say('\nCtrl-C stops it. Start it again with the same command; --reset fills it from the beginning.');
  process.exitCode = await service.ended;
}

run().catch((error: unknown) => {
  process.stderr.write(`demo: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
