/** A small configuration for tests across modules. */
import type { TestAnswer, TestApp } from './app.ts';
import { duringTransaction } from './database.ts';

export const RIGHTS =
  'webhook.manage, integration.manage, import.manage, import.execute, export.execute, kb.read, kb.write, kb.publish, ' +
  'user.administer, role.assign, sla.control, catalog.impersonate, config.manage, audit.read, key.manage';

export const ACTIONS =
  'read, create, update, archive, history, transition, comment.create, comment.edit, Private Comment, attachment.add, ' +
  'attachment.delete, relation.create, relation.delete';

/** One person as the bundle writes it. */
export function user(login: string): string {
  return `  - { login: ${login}, displayName: Person ${login}, email: ${login}@example.org }\n`;
}

/** A bundle of one file. */
export function bundle(text: string): { name: string; text: string }[] {
  return [{ name: 'world.yaml', text }];
}

/** Changes rows directly, like another process of the service: raises the version row in the same transaction. */
export async function changeRights(app: TestApp, statement: string, values: readonly unknown[]): Promise<void> {
  await duringTransaction(app.db, async (client) => {
    await client.query(statement, [...values]);
    await client.query('UPDATE cache_versions SET rights = rights + 1');
    await client.query('COMMIT');
  });
}

/** The id of a user, group, role or other configured thing. */
export async function idOf(app: TestApp, table: 'users' | 'groups' | 'config_items', code: string): Promise<string> {
  const column = table === 'users' ? 'login' : 'code';
  const rows = await stored<{ id: string }>(app, `SELECT id FROM ${table} WHERE ${column} = $1`, [code]);
  if (rows.length !== 1 || rows[0] === undefined) throw new Error(`${table} has ${rows.length} rows named ${code}`);
  return rows[0].id;
}

/** The id of something inside of a configured item: a state, a catalogue item, a section. */
export async function nestedIdOf(app: TestApp, code: string): Promise<string> {
  const rows = await stored<{ id: string }>(app, 'SELECT id FROM config_ids WHERE code = $1', [code]);
  if (rows.length !== 1 || rows[0] === undefined) throw new Error(`${rows.length} things are named ${code}`);
  return rows[0].id;
}

/** Rows of a statement without any access check: the stored data. */
export async function stored<Row>(app: TestApp, statement: string, values: readonly unknown[] = []): Promise<Row[]> {
  const client = await app.db.connect();
  try {
    return (await client.query(statement, [...values])).rows as Row[];
  } finally {
    client.release();
  }
}

/** A response as text without parts that differ between calls, for comparison. */
export function withoutCorrelation(answer: TestAnswer): string {
  const headers = [...answer.headers].filter(([name]) => !['x-correlation-id', 'date'].includes(name));
  const { correlationId: _, ...meta } = answer.body.meta as { correlationId: string };
  return JSON.stringify({ status: answer.status, headers, body: { ...answer.body, meta } });
}
