/** Bundle, users and keys: everything that must exist before the first ticket. */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parse, stringify } from 'yaml';
import { type Client, granted } from './client.ts';
import type { Tracker } from './data.ts';
import type { FieldSpec } from './fields.ts';
import type { Journal } from './journal.ts';
import { assignLogins, type People, type Person } from './users.ts';
import { inParallel, type Progress } from './progress.ts';
import type { Service } from './service.ts';
import type { Workflow } from './workflow.ts';

export const TYPE = 'jquery-ticket';
export const DUPLICATE_OF = 'duplicate-of';
const REPLAYER = 'jquery-replay';
const BUNDLE = fileURLToPath(new URL('bundle', import.meta.url));
const READER_SCOPES = [
  'metadata:read',
  'objects:read',
  'workflow:read',
  'comments:read',
  'files:read',
  'relations:read',
];
const CONTRIBUTOR_SCOPES = [
  'objects:read',
  'objects:write',
  'workflow:read',
  'workflow:write',
  'comments:write',
  'files:write',
  'relations:write',
];

export interface Cast extends People {
  /** Handles in tickets or their parts that are missing in `users.csv`. */
  unlisted: string[];
  /** Handles that open, change, comment or link a ticket or attach a file to it, and so need a key. */
  acting: Set<string>;
  /** Handles that change or link a ticket. */
  editors: Set<string>;
}

/**
 * All users in the data. Those of `users.csv` come first, in order of first appearance.
 *
 * @param whole false omits users without a part in these tickets; the logins of the others stay the same
 */
export function cast(tracker: Tracker, whole: boolean): Cast {
  const listed = tracker.users.toSorted((a, b) => compare(a.first_seen, b.first_seen) || compare(a.login, b.login));
  const handles = new Set(listed.map((user) => user.login));
  const named = new Set<string>();
  const acting = new Set<string>();
  const editors = new Set<string>();
  for (const ticket of tracker.tickets) {
    const history = tracker.history.get(ticket.id) ?? [];
    acting.add(history.find((row) => row.field === 'reporter')?.old_value ?? ticket.reporter);
    for (const row of history) {
      editors.add(row.author);
      if (row.field === 'owner' || row.field === 'reporter') named.add(row.old_value).add(row.new_value);
    }
    named.add(ticket.reporter).add(ticket.owner);
    for (const { author } of tracker.comments.get(ticket.id) ?? []) acting.add(author);
    for (const { author } of tracker.attachments.get(ticket.id) ?? []) acting.add(author);
  }
  for (const { author } of tracker.relations) editors.add(author);
  for (const handle of editors) acting.add(handle);
  for (const handle of acting) named.add(handle);
  named.delete('');
  const unlisted = [...named].filter((handle) => !handles.has(handle)).sort(compare);
  const all = assignLogins([...handles, ...unlisted], [REPLAYER]);
  const part = ({ handle }: Person): boolean => whole || named.has(handle);
  return {
    byHandle: new Map([...all.byHandle].filter(([, person]) => part(person))),
    alike: all.alike.filter(part),
    reshaped: all.reshaped.filter(part),
    unlisted,
    acting,
    editors,
  };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The fields of the type as the bundle has them. */
export async function fieldSpecs(): Promise<FieldSpec[]> {
  const bundle = parse(await readFile(path.join(BUNDLE, 'tracker.yaml'), 'utf8')) as {
    types: { code: string; fields: FieldSpec[] }[];
  };
  const type = bundle.types.find((one) => one.code === TYPE);
  if (type === undefined) throw new Error(`the bundle has no type ${TYPE}`);
  return type.fields;
}

/** Writes the bundle: the files beside this one, the workflow and the users. @returns its folder */
export async function writeBundle(folder: string, people: Cast, workflow: Workflow): Promise<string> {
  const target = path.join(folder, 'bundle');
  await mkdir(target, { recursive: true });
  for (const name of await readdir(BUNDLE)) {
    await writeFile(path.join(target, name), await readFile(path.join(BUNDLE, name)));
  }
  const persons = [...people.byHandle.values()];
  const editors = persons.filter((person) => people.editors.has(person.handle));
  const others = persons.filter((person) => !people.editors.has(person.handle));
  const logins = (of: Person[]): string[] => of.map((person) => person.login);
  const generated = {
    groups: [
      { code: 'jquery-editors', name: 'Who changes tickets', users: logins(editors) },
      // Users who change tickets may also open them: the group is nested.
      { code: 'jquery-people', name: 'Everybody of the tracker', users: logins(others), groups: ['jquery-editors'] },
    ],
    users: persons.map(({ handle, login }) => ({ login, displayName: handle, externalId: handle })),
  };
  await writeFile(path.join(target, 'people.yaml'), stringify(generated));
  await writeFile(path.join(target, 'workflow.yaml'), stringify({ workflows: [workflow] }));
  return target;
}

/** Keys that are no contributor's: one that administers, one that reads what came of the replay. */
export interface OfficeKeys {
  admin: string;
  reader: string;
}

/**
 * Applies the bundle by the command line where the service is our own, else by the administration API with the caller's key.
 *
 * @param givenKey a key with the scope admin:manage of a service that is not ours
 * @throws Error with what the service refused
 */
export async function configure(
  service: Service | undefined,
  client: Client,
  journal: Journal,
  bundle: string,
  givenKey: string | undefined,
): Promise<OfficeKeys> {
  const admin = service === undefined ? givenKey : await applyByCommand(service, journal, bundle);
  if (admin === undefined) throw new Error('DOCKET_KEY must hold a key with the scope admin:manage for DOCKET_URL');
  if (service === undefined) {
    const names = (await readdir(bundle)).sort();
    const files = await Promise.all(
      names.map(async (name) => ({ name, text: await readFile(path.join(bundle, name), 'utf8') })),
    );
    const call = { name: 'apply', method: 'POST', path: '/api/admin/v1/config/apply', key: admin } as const;
    granted(call, await client.call({ ...call, body: { files } }));
  }
  const reader = await keyOf(client, journal, admin, REPLAYER, 'reading', READER_SCOPES);
  await follow(client, reader);
  return { admin, reader };
}

async function applyByCommand(service: Service, journal: Journal, bundle: string): Promise<string> {
  await service.docket('apply', bundle, '--json');
  const slot = `${REPLAYER}/admin`;
  const known = journal.keys.get(slot);
  if (known !== undefined) return known;
  const name = ['--owner', REPLAYER, '--name', 'jquery-tracker admin', '--scopes', 'admin:manage'];
  const { key } = JSON.parse(await service.docket('keys', 'create', ...name, '--json')) as { key: string };
  journal.write({ kind: 'key', login: slot, key });
  return key;
}

/** Waits until the service uses the applied configuration, which takes up to a second. */
async function follow(client: Client, reader: string): Promise<void> {
  const call = { name: 'types', method: 'GET', path: '/api/v1/metadata/types', key: reader } as const;
  for (let tries = 0; tries < 50; tries++) {
    const { data } = await client.call<{ types: { code: string }[] }>(call);
    if (data?.types.some((type) => type.code === TYPE) === true) return;
    await sleep(100);
  }
  throw new Error(`the service does not know the type ${TYPE} five seconds after the apply`);
}

async function keyOf(
  client: Client,
  journal: Journal,
  admin: string,
  login: string,
  use: string,
  scopes: string[],
): Promise<string> {
  const known = journal.keys.get(login);
  if (known !== undefined) return known;
  const call = { name: 'issue key', method: 'POST', path: '/api/admin/v1/keys', key: admin } as const;
  const body = { owner: login, name: `jquery-tracker ${use}`, scopes };
  const { key } = granted(call, await client.call<{ key: string }>({ ...call, body }));
  journal.write({ kind: 'key', login, key });
  return key;
}

/** Issues a key to every acting user who has none yet. @returns keys by handle */
export async function issueKeys(
  client: Client,
  journal: Journal,
  office: OfficeKeys,
  people: Cast,
  workers: number,
  progress: Progress,
): Promise<Map<string, string>> {
  const keys = new Map<string, string>();
  const acting = [...people.byHandle.values()].filter((person) => people.acting.has(person.handle));
  await inParallel(acting, workers, async ({ handle, login }) => {
    keys.set(handle, await keyOf(client, journal, office.admin, login, 'replay', CONTRIBUTOR_SCOPES));
    progress.add();
  });
  return keys;
}

/** Id of the relation definition that links a ticket to the one it duplicates. */
export async function duplicateDefinition(client: Client, reader: string): Promise<string> {
  const call = { name: 'definitions', method: 'GET', path: '/api/v1/relation-definitions', key: reader } as const;
  const all = granted(call, await client.call<{ id: string; code: string }[]>(call));
  const found = all.find(({ code }) => code === DUPLICATE_OF);
  if (found === undefined) throw new Error(`the service has no relation definition ${DUPLICATE_OF} after the apply`);
  return found.id;
}

/** Ids of the users by handle. */
export async function userIds(client: Client, admin: string, people: Cast): Promise<Map<string, string>> {
  const call = { name: 'users', method: 'GET', path: '/api/admin/v1/config/users', key: admin } as const;
  const users = granted(call, await client.call<{ id: string; code: string }[]>(call));
  const byLogin = new Map(users.map((user) => [user.code, user.id]));
  return new Map(
    [...people.byHandle.values()].map(({ handle, login }) => {
      const id = byLogin.get(login);
      if (id === undefined) throw new Error(`the service has no user ${login} after the apply`);
      return [handle, id];
    }),
  );
}
