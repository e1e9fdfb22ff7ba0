/** Loads attachments and reads configured ids before measuring begins. */
import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import { Connection } from './connection.ts';
import { type DatabaseFacts, FILE_BYTES, FILES, send, type Target, TargetState } from './scenario.ts';

async function idOf(db: pg.Client, scope: string, code: string): Promise<string> {
  const { rows } = await db.query<{ id: string }>('SELECT id FROM config_ids WHERE scope = $1 AND code = $2', [
    scope,
    code,
  ]);
  if (rows[0] === undefined) throw new Error(`the database holds no id of ${code} in ${scope}`);
  return rows[0].id;
}

/** Ids of what the measured bundle configures. */
export async function readConfigured(db: pg.Client): Promise<Pick<DatabaseFacts, 'transitions' | 'relationId'>> {
  const { rows } = await db.query<{ id: string }>(
    `SELECT id FROM config_items WHERE section = 'relationDefinitions' AND code = 'concerns'`,
  );
  const states = 'workflows/ticket/states';
  const transitions = 'workflows/ticket/transitions';
  return {
    relationId: rows[0]?.id ?? '',
    transitions: {
      take: { id: await idOf(db, transitions, 'take'), from: await idOf(db, states, 'new') },
      giveBack: { id: await idOf(db, transitions, 'give-back'), from: await idOf(db, states, 'doing') },
    },
  };
}

/** Adds files through the API, so that their content is where the service looks for it. @returns their ids */
export async function loadFiles(target: Target): Promise<string[]> {
  const state = new TargetState(target);
  const connection = await Connection.open(target.ports.docket);
  const ids: string[] = [];
  for (let n = 1; n <= FILES; n++) {
    const body = {
      filename: `report-${n}.pdf`,
      mediaType: 'application/pdf',
      contentBase64: randomBytes(FILE_BYTES).toString('base64'),
    };
    const path = `/api/v1/objects/${state.pick(target.ids)}/attachments`;
    const answer = await connection.request(send(state, 'docket', 'POST', path, body));
    const text = answer.body.toString('utf8');
    if (answer.status !== 201) throw new Error(`a file was refused with ${answer.status}: ${text}`);
    ids.push((JSON.parse(text) as { data: { id: string } }).data.id);
  }
  connection.close();
  return ids;
}
