/** Imports real data, exports it again and compares the two. README.md describes the steps. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { stringify } from 'yaml';
import { type Service, startService } from '../jquery-tracker/service.ts';
import { Docket } from '../../client/src/index.ts';
import { type Articles, knowledgeBases, readArticles, tryArticles } from './articles.ts';
import { eventImport, expectedValues, expectedVerdicts, ownImport, typeDefinition } from './incidents.ts';
import { fillDesk } from './desk.ts';
import { tryMembers } from './memberships.ts';
import { assignmentGroups, codeOf, dataFolder, readTable, unpack, type Volvo, volvoFiles } from './sources.ts';
import { differences, exportIncidents, type Values } from './verify.ts';

const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url));
const OWNER = 'importer';
const USAGE = `usage: npm run example:data -- [--data DIR] [--keep] [--only PARTS]
  --data DIR   where the service's data and the files go
  --keep       leave the service running at the end
  --only PARTS some of people,incidents,articles, with commas between
  --desk       fill an installation for trying the desk instead: 5,500 incidents, 1,500 users, 600 articles
  --from DIR   with --desk: take texts from the data sets in DIR; without it they are generated`;

const PARTS = ['people', 'incidents', 'articles'];

interface Run {
  id: string;
  total: number;
  succeeded: number;
  failed: number;
  skipped: number;
  rows: { row: number; status: string; errors: unknown[] }[];
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

const column = (source: string, target: string, transform?: string) => ({
  source,
  target,
  ...(transform === undefined ? {} : { transform }),
});

function identityImport(code: string, targetKind: string, mapping: object[]): object {
  const shared = { format: 'CSV', mode: 'UPSERT', sourceCode: code, resolver: { externalIdField: 'id' } };
  return { code, targetKind, ...shared, mapping };
}

async function writeBundle(folder: string, groups: readonly string[], articles: Articles | undefined): Promise<string> {
  const bundle = path.join(folder, 'bundle');
  await mkdir(bundle, { recursive: true });
  const content = {
    settings: { defaultLocale: 'en-US', timezone: 'UTC' },
    types: [typeDefinition()],
    users: [{ login: OWNER, displayName: 'Importer', email: 'importer@example.org' }],
    roles: [
      {
        code: 'importer',
        rights: [
          ...['import.manage', 'import.execute', 'export.execute', 'user.administer'],
          ...['kb.read', 'kb.write', 'kb.publish'],
        ],
        records: [{ type: '*', actions: ['read', 'create', 'update'], fields: { read: '*', write: '*' } }],
        assignedTo: { users: [OWNER] },
      },
    ],
    knowledgeBases: articles === undefined ? [] : knowledgeBases(articles),
    importDefinitions: [
      identityImport('volvo-units', 'organization', [
        column('code', 'code'),
        column('name', 'name'),
        column('parent', 'parentId', 'org-unit:code'),
      ]),
      identityImport('volvo-teams', 'group', [column('code', 'code'), column('name', 'name')]),
      identityImport('volvo-owners', 'user', [
        column('login', 'login'),
        column('name', 'displayName'),
        column('email', 'email'),
      ]),
      identityImport('sn-groups', 'group', [column('code', 'code'), column('name', 'name')]),
      eventImport(groups),
      ownImport('CSV'),
      ownImport('JSON'),
    ],
  };
  await writeFile(path.join(bundle, 'data.yaml'), stringify(content));
  return bundle;
}

type Groups = Awaited<ReturnType<typeof assignmentGroups>>;

/** Runs imports by the command line and notes what came of them. */
class Importer {
  readonly #service: Service;
  readonly problems: string[] = [];

  constructor(service: Service) {
    this.#service = service;
  }

  async import(
    definition: string,
    file: string,
    wanted: { succeeded: number; skipped: number },
    ...flags: string[]
  ): Promise<void> {
    const started = performance.now();
    const run = JSON.parse(
      await this.#service.docket('import', file, '--definition', definition, '--json', ...flags),
    ) as Run;
    const seconds = (performance.now() - started) / 1000;
    const rate = Math.round(run.total / seconds).toLocaleString('en');
    const what = flags.includes('--dry-run') ? `${definition}, dry run` : definition;
    say(
      `${what}: ${run.total} rows in ${seconds.toFixed(1)} s (${rate} rows/s): ` +
        `${run.succeeded} created or updated, ${run.skipped} skipped, ${run.failed} failed`,
    );
    const right = run.failed === 0 && run.succeeded === wanted.succeeded && run.skipped === wanted.skipped;
    if (right) return;
    const first = run.rows.find(({ status }) => status === 'FAILED');
    this.problems.push(`${what}: wanted ${JSON.stringify(wanted)}; first failed row: ${JSON.stringify(first)}`);
  }
}

async function keyOf(service: Service, scopes = 'all'): Promise<string> {
  const said = await service.docket('keys', 'create', '--owner', OWNER, '--name', 'data', '--scopes', scopes, '--json');
  return (JSON.parse(said) as { key: string }).key;
}

async function tryPeople(docket: Docket, importer: Importer, volvo: Volvo, groups: Groups): Promise<string[]> {
  const { counts } = volvo;
  const problems: string[] = [];
  for (const [definition, file, rows] of [
    ['volvo-units', volvo.units, counts.units],
    ['volvo-teams', volvo.groups, counts.groups],
    ['volvo-owners', volvo.users, counts.users],
    ['sn-groups', groups.file, groups.names.length],
  ] as const) {
    await importer.import(definition, file, { succeeded: rows, skipped: 0 });
    await importer.import(definition, file, { succeeded: 0, skipped: rows });
  }
  const [units, people, all] = [
    await docket.identity.orgUnits(),
    await docket.identity.users(),
    await docket.identity.groups(),
  ];
  if (units.length !== counts.units) problems.push(`${units.length} units, not ${counts.units}`);
  if (units.filter(({ parentId }) => parentId !== null).length === 0) problems.push('no unit has a parent');
  if (people.length !== counts.users + 1) problems.push(`${people.length} people, not ${counts.users + 1}`);
  if (all.length !== counts.groups + groups.names.length) problems.push(`${all.length} groups`);
  return [...problems, ...(await tryMembers(docket, volvo, say))];
}

async function tryIncidents(
  docket: Docket,
  importer: Importer,
  groups: Groups,
  place: { folder: string; data: string },
): Promise<string[]> {
  const { folder } = place;
  const problems: string[] = [];
  const groupIds = new Map((await docket.identity.groups()).map(({ code, id }) => [code, id]));
  if (groups.names.some((name) => !groupIds.has(codeOf('sn', name))))
    problems.push('a group of the incidents is missing');
  const source = path.join(place.data, 'servicenow-incidents');
  const events = await readTable(path.join(source, 'incident_events.csv.gz'));
  const last = await readTable(path.join(source, 'incidents.csv.gz'));
  const file = await unpack(path.join(source, 'incident_events.csv.gz'), path.join(folder, 'incident-events.csv'));
  const verdicts = expectedVerdicts(events, groupIds);
  const wanted = { succeeded: verdicts.created + verdicts.updated, skipped: verdicts.skipped };
  say(`${events.length} events of ${last.length} incidents should be ${JSON.stringify(verdicts)}.`);
  await importer.import('sn-events', file, wanted, '--dry-run');
  await importer.import('sn-events', file, wanted);

  const expected = new Map<string, Values>(
    last.map((row) => [row['number'] ?? '', expectedValues(row, groupIds)] as const),
  );
  const opened = [...expected.values()].map((values) => String(values['opened_at'])).sort();
  const border = opened[Math.floor(opened.length / 2)] ?? '';
  for (const format of ['CSV', 'JSON'] as const) {
    const exported = await exportIncidents(docket, border, format);
    const found = differences(exported, expected);
    say(`exported as ${format} in ${(exported.ms / 1000).toFixed(1)} s: ${found.length === 0 ? 'equal' : 'DIFFERENT'}`);
    problems.push(...found);
    for (const [index, text] of exported.texts.entries()) {
      const own = path.join(folder, `export-${index}.${format.toLowerCase()}`);
      await writeFile(own, text);
      const rows = format === 'JSON' ? (JSON.parse(text) as unknown[]).length : text.split('\r\n').length - 2;
      await importer.import(`own-${format.toLowerCase()}`, own, { succeeded: 0, skipped: rows });
    }
  }
  return problems;
}

async function run(service: Service, folder: string, data: string, parts: ReadonlySet<string>): Promise<string[]> {
  const volvo = await volvoFiles(data, folder);
  const groups = await assignmentGroups(data, folder);
  const articles = parts.has('articles') ? await readArticles(data) : undefined;
  await service.docket('apply', await writeBundle(folder, groups.names, articles));
  const key = await keyOf(service);
  const { url } = service;
  const docket = new Docket({ url, key });
  const importer = new Importer(service);
  const problems: string[] = [];
  if (parts.has('people')) problems.push(...(await tryPeople(docket, importer, volvo, groups)));
  else if (parts.has('incidents')) {
    await importer.import('sn-groups', groups.file, { succeeded: groups.names.length, skipped: 0 });
  }
  if (parts.has('incidents')) problems.push(...(await tryIncidents(docket, importer, groups, { folder, data })));
  if (articles !== undefined) {
    const adminKey = await keyOf(service, 'admin:manage');
    problems.push(...(await tryArticles({ url, key, adminKey }, articles, say)));
  } else if (parts.has('articles'))
    say('The sets kb-ru-m365 and support-ru-rutube are not here, so no article is written.');
  return [...importer.problems, ...problems];
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      data: { type: 'string' },
      keep: { type: 'boolean' },
      only: { type: 'string' },
      desk: { type: 'boolean' },
      from: { type: 'string' },
      help: { type: 'boolean' },
    },
  });
  const parts = new Set(values.only?.split(',') ?? PARTS);
  if (values.help === true || [...parts].some((part) => !PARTS.includes(part))) {
    say(USAGE);
    return values.help === true ? 0 : 2;
  }
  if (values.desk === true) {
    const folder = path.resolve(values.data ?? (await mkdtemp(path.join(tmpdir(), 'docket-desk-'))));
    await fillDesk({ folder, from: values.from, keep: values.keep === true, say });
    return 0;
  }
  const data = dataFolder(REPOSITORY, process.env['DOCKET_EXAMPLE_DATA']);
  if (data === undefined) {
    say('The data sets are not here (DOCKET_EXAMPLE_DATA, or ../shared/data), so there is nothing to import.');
    return 0;
  }
  const folder = path.resolve(values.data ?? (await mkdtemp(path.join(tmpdir(), 'docket-data-'))));
  await mkdir(folder, { recursive: true });
  const service = await startService(folder);
  try {
    const problems = await run(service, folder, data, parts);
    say(problems.length === 0 ? 'Everything is as the data say.' : problems.join('\n'));
    return problems.length === 0 ? 0 : 1;
  } finally {
    if (values.keep === true) say(`The service goes on at ${service.url}; its data are in ${folder}.`);
    else {
      await service.stop();
      if (values.data === undefined) await rm(folder, { recursive: true, force: true });
    }
  }
}

try {
  process.exitCode = await main();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
