/**
 * A fixture for imports and exports: tickets with a field of every data type, assets they refer to, and users with different
 * rights.
 */
import assert from 'node:assert/strict';
import { setPassword } from '../../src/domain/access/index.ts';
import { startTestApp, type TestAnswer, type TestApp, type TestOptions } from './app.ts';
import { watchAnswers } from './response-check.ts';
import { ACTIONS, bundle, stored } from './small-configuration.ts';

/**
 * - boss: all rights. clerk: imports and exports tickets of kind `a`, `secret` hidden, `grade` read-only; sees assets
 * of kind `a`. porter: the rights to import and export, and no records. stranger: no rights.
 */
export const USERS = ['boss', 'clerk', 'porter', 'stranger'] as const;
export type FixtureUser = (typeof USERS)[number];

const WORLD = `
settings: { defaultLocale: en-US, timezone: Europe/Moscow }
types:
  - code: ticket
    name: Ticket
    numbering: { prefix: T, digits: 4 }
    title: title
    workflow: flow
    fields:
      - { code: title, dataType: string, required: true, constraints: { maxLength: 100 }, search: { filter: true } }
      - { code: kind, dataType: enum, default: a, constraints: { options: [{ code: a }, { code: b }] }, search: { filter: true } }
      - { code: count, dataType: integer, search: { filter: true } }
      - { code: cost, dataType: decimal }
      - { code: urgent, dataType: boolean }
      - { code: day, dataType: date }
      - { code: at, dataType: datetime }
      - { code: lasts, dataType: duration }
      - { code: time, dataType: time }
      - { code: note, dataType: text }
      - { code: tags, dataType: string, multiple: true }
      - { code: numbers, dataType: integer, multiple: true }
      - { code: body, dataType: rich-text }
      - { code: any, dataType: json }
      - { code: link, dataType: url }
      - { code: mail, dataType: email }
      - { code: phone, dataType: phone }
      - { code: assignee, dataType: user }
      - { code: team, dataType: group }
      - { code: unit, dataType: org-unit }
      - { code: asset, dataType: reference, constraints: { types: [asset] } }
      - { code: assets, dataType: reference, multiple: true, constraints: { types: [asset] } }
      - { code: parent, dataType: reference, constraints: { types: [ticket] } }
      - { code: secret, dataType: string, search: { filter: true } }
      - { code: grade, dataType: string }
  - code: asset
    name: Asset
    title: serial
    fields:
      - { code: serial, dataType: string, required: true, search: { filter: true } }
      - { code: kind, dataType: enum, constraints: { options: [{ code: a }, { code: b }] }, search: { filter: true } }
workflows:
  - code: flow
    name: Flow
    initial: new
    states: [{ code: new, name: New, category: open }, { code: done, name: Done, category: done }]
    transitions: [{ code: finish, name: Finish, from: [new], to: done }]
roles:
  - code: boss
    name: Boss
    rights: [config.manage, role.assign, import.manage, import.execute, export.execute, user.administer]
    records: [{ type: '*', actions: [${ACTIONS}], fields: { read: '*', write: '*' }, transitions: '*' }]
    assignedTo: { users: [boss] }
  - code: clerk
    name: Clerk
    rights: [import.manage, import.execute, export.execute]
    records:
      - type: ticket
        where: { field: kind, operator: equals, value: a }
        actions: [read, create, update]
        fields:
          read: [title, kind, count, note, grade, asset, parent]
          write: [title, kind, count, note, asset, parent]
      - { type: asset, where: { field: kind, operator: equals, value: a }, actions: [read], fields: { read: '*' } }
    assignedTo: { users: [clerk] }
  - code: porter
    name: Porter
    rights: [import.execute, export.execute]
    assignedTo: { users: [porter] }
users:
${USERS.map((login) => `  - { login: ${login}, displayName: Man ${login}, email: ${login}@example.org }`).join('\n')}
groups: [{ code: first-line, name: First line }]
orgUnits: [{ code: hq, name: Head office }]
`;

export interface Definition {
  code?: string;
  targetKind?: string;
  targetTypeId?: string;
  format?: 'CSV' | 'JSON';
  mode?: 'CREATE_ONLY' | 'UPDATE_ONLY' | 'UPSERT';
  sourceCode?: string;
  resolver?: { externalIdField: string };
  rules?: boolean;
  mapping?: { source: string; target: string; transform?: string | string[]; precedence?: number }[];
}

export interface RowResult {
  row: number;
  externalId: string | null;
  status: 'CREATED' | 'UPDATED' | 'SKIPPED' | 'FAILED';
  id?: string;
  errors: { path: string; code: string; message: string }[];
}

export interface RunResult {
  id: string;
  dryRun: boolean;
  succeeded: number;
  failed: number;
  skipped: number;
  rows: RowResult[];
  rowsTruncated: boolean;
}

export interface ImportExportFixture {
  app: TestApp;
  call(who: FixtureUser, method: string, path: string, body?: unknown): Promise<TestAnswer>;
  /** As `call`, and the answer's `data`; anything but a success fails the test. */
  ok<T = any>(who: FixtureUser, method: string, path: string, body?: unknown): Promise<T>;
  /** Below `/api/admin/v1`, with a key that may. */
  admin(who: FixtureUser, method: string, path: string, body?: unknown): Promise<TestAnswer>;
  /** Defines an import of tickets from CSV with defaults for omitted properties. @returns its id */
  define(more?: Definition): Promise<string>;
  run(who: FixtureUser, definitionId: string, content: string, dryRun?: boolean): Promise<RunResult>;
  make(values: Record<string, unknown>, type?: string): Promise<{ id: string; number: string }>;
  rows<Row>(statement: string, values?: readonly unknown[]): Promise<Row[]>;
  close(): Promise<void>;
}

export const PASSWORD = 'correct horse battery staple';

export async function startImportExportFixture(
  options: Omit<TestOptions, 'bundle'> = {},
): Promise<ImportExportFixture> {
  const app = await startTestApp({ ...options, bundle: bundle(WORLD) });
  const undocumented = watchAnswers(app);
  const keyed = async (scopes: string[] | 'all'): Promise<Record<string, string>> =>
    Object.fromEntries(
      await Promise.all(USERS.map(async (login) => [login, (await app.createKey({ login, scopes })).key] as const)),
    );
  const keys = await keyed('all');
  const adminKeys = await keyed(['admin:manage']);
  await app.app.work.write(app.app.system(), (ctx) => setPassword(ctx, 'boss', PASSWORD));
  let count = 0;
  const send = (prefix: string, key: string | undefined, method: string, path: string, body?: unknown) =>
    app.request(method, `${prefix}${path}`, {
      ...(key === undefined ? {} : { key }),
      ...(body === undefined ? {} : { body }),
    });
  const self: ImportExportFixture = {
    app,
    call: (who, method, path, body) => send('/api/v1', keys[who], method, path, body),
    ok: async (who, method, path, body) => {
      const answer = await self.call(who, method, path, body);
      assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
      return answer.body.data;
    },
    admin: (who, method, path, body) => send('/api/admin/v1', adminKeys[who], method, path, body),
    define: async (more = {}) => {
      count++;
      const { id } = await self.ok('boss', 'POST', '/import-definitions', {
        code: `d${count}`,
        targetKind: 'object',
        ...((more.targetKind ?? 'object') === 'object' ? { targetTypeId: 'ticket' } : {}),
        format: 'CSV',
        mode: 'UPSERT',
        sourceCode: `s${count}`,
        resolver: { externalIdField: 'ext' },
        mapping: [
          { source: 'title', target: 'title' },
          { source: 'count', target: 'count' },
          { source: 'note', target: 'note' },
        ],
        ...more,
      });
      return id;
    },
    run: (who, definitionId, content, dryRun = false) =>
      self.ok(who, 'POST', '/imports/run', { definitionId, content, dryRun }),
    make: (values, type = 'ticket') => self.ok('boss', 'POST', '/objects', { typeDefinitionId: type, values }),
    rows: (statement, values) => stored(app, statement, values),
    close: async () => {
      await app.close();
      assert.deepEqual(undocumented.slice(0, 3), [], 'what answers said that the documents do not describe');
    },
  };
  return self;
}

/** The status of each row, with the code of the first error. */
export function verdicts({ rows }: { rows: readonly Pick<RowResult, 'status' | 'errors'>[] }): string[] {
  return rows.map(({ status, errors }) => (errors.length === 0 ? status : `${status} ${errors[0]?.code}`));
}
