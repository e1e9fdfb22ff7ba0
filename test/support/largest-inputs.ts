/** What the event loop test sends the largest inputs to: the configuration of the access test with long fields, and large records. */
import type { TestApp } from './app.ts';
import { LONG_FIELDS, LONGEST, longValues, textOf } from './largest-texts.ts';
import { WORLD } from './operation-calls.ts';
import type { Seeded } from './operation-calls-case.ts';
import { stored } from './small-configuration.ts';

/** The configuration of the access test with long fields. */
export const LARGE_CONFIGURATION = WORLD.replace(
  '      - { code: picture, dataType: rich-text }\n',
  `      - { code: picture, dataType: rich-text }\n      - { code: data, dataType: json }\n${Array.from(
    { length: LONG_FIELDS },
    (_, index) => `      - { code: long${index}, dataType: text }\n`,
  ).join('')}`,
);

const COPIES = 8;
const COMMENTS = 60;

/** Makes records with long texts, many comments and history, by copies in the database. */
export async function seedLarge(app: TestApp, send: Seeded['send']): Promise<Seeded> {
  const values = { title: 'Banana harvest', ...longValues('different words') };
  const { id } = await send('POST', '/objects', { typeDefinitionId: 'thing', values });
  const body = textOf('different words', LONGEST);
  await send('POST', `/objects/${id}/comments`, { body, visibility: 'public' });
  await send('PATCH', `/objects/${id}`, { expectedRevision: 1, changes: { long0: body } });
  await stored(
    app,
    `WITH copies AS (SELECT gen_random_uuid() AS id FROM generate_series(1, ${COPIES})),
      made AS (INSERT INTO objects SELECT (jsonb_populate_record(o, jsonb_build_object('id', c.id))).* FROM objects o, copies c
        WHERE o.id = $1 RETURNING 1)
      INSERT INTO search_records SELECT (jsonb_populate_record(s, jsonb_build_object('id', c.id))).*
        FROM search_records s, copies c WHERE s.id = $1`,
    [id],
  );
  await stored(
    app,
    `INSERT INTO comments SELECT (jsonb_populate_record(c, jsonb_build_object('id', gen_random_uuid()))).*
      FROM comments c, generate_series(1, ${COMMENTS}) WHERE c.object_id = $1`,
    [id],
  );
  return { app, record: id, send };
}
