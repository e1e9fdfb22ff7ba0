/**
 * The baseline server: Fastify and `pg` on the same tables, indexes and driver settings, with one statement per request and
 * without keys, rights, validation and logs. The benchmark starts it as a separate process. To start it manually: `node
 * bench/baseline-server.ts '{"databaseUrl": "postgres://…", …}'`.
 *
 * It writes what the service writes in the statement of a change, so that both update the same indexes:
 *
 * - a create: the record, its event, the stored response, and the words of the record;
 * - a comment: the comment, its event, and the words of the comment;
 * - a change, a transition, a relation and so on: their rows and an event. They change no words.
 *
 * PostgreSQL makes the words with `to_tsvector` (`words.ts`). The baseline server does not write the queue of the typo correction
 * and the facts of reports, and does not lock the record of a comment.
 */
import { randomUUIDv7 } from 'node:crypto';
import Fastify from 'fastify';
import pg from 'pg';
import { type BaselineActivity, activityRoutes } from './baseline-routes.ts';
import { NUMBER_DIGITS, NUMBER_PREFIX } from './bundle.ts';
import { VISIBLE_AREAS } from './corpus.ts';
import { membershipRoutes } from './memberships.ts';
import { recordWords } from './words.ts';

export interface BaselineOptions extends BaselineActivity {
  databaseUrl: string;
  typeId: string;
  typeVersion: number;
  workflowStateId: string;
  /** Of the rows of words that the service wrote. */
  profileId: number;
}

type Values = Record<string, unknown>;

const COLUMNS = `id, type_id AS "typeDefinitionId", number, title, revision, state, workflow_state_id AS "workflowStateId",
  "values", created_at AS "createdAt", created_by AS "createdBy", updated_at AS "updatedAt", updated_by AS "updatedBy"`;

const READ = `SELECT ${COLUMNS} FROM objects WHERE id = $1`;

const LIST = `SELECT ${COLUMNS} FROM objects
  WHERE state = 'ACTIVE' AND type_id = $1 AND ("values"->>'area' = ANY($2) OR "values"->>'assignee' = $3)
  ORDER BY created_at DESC, id DESC LIMIT $4 OFFSET $5`;

const CREATE = `
  WITH record AS (
    INSERT INTO objects (id, type_id, type_version, number, title, revision, workflow_state_id, "values", folded, created_at,
      created_by, updated_at, updated_by)
    VALUES ($1, $2, $3, '${NUMBER_PREFIX}' || lpad(nextval('"number_${NUMBER_PREFIX}"')::text, ${NUMBER_DIGITS}, '0'), $4, 1, $5, $6, $7,
      $8, $9, $8, $9)
    RETURNING number
  ), event AS (
    INSERT INTO journal (id, at, type, object_id, revision, actor_id, via, key_id, correlation_id, changes, hash)
    VALUES ($10, $8, 'ObjectCreated', $1, 1, $9, 'api', $11, $12, $13, $14)
  ), kept AS (
    INSERT INTO baseline.idempotency (caller_id, route, key, fingerprint, status, answer, created_at)
    VALUES ($11, 'objects.create', $15, $14, 201, $16, $8)
  ), words AS (
    INSERT INTO search_records (id, profile_id, size, words)
    SELECT $1, $17, length(words), words FROM record, LATERAL (SELECT ${recordWords('$4', '$18', '$19', 'number')} AS words) AS w
  )
  SELECT number FROM record`;

const UPDATE = `
  WITH record AS (
    UPDATE objects SET revision = revision + 1, "values" = "values" || $3, updated_at = $4, updated_by = $5
    WHERE id = $1 AND revision = $2
    RETURNING ${COLUMNS}
  ), event AS (
    INSERT INTO journal (id, at, type, object_id, revision, actor_id, via, key_id, correlation_id, changes, hash)
    SELECT $6, $4, 'ObjectUpdated', $1, revision, $5, 'api', $7, $8, $9, $10 FROM record
  )
  SELECT * FROM record`;

const HASH = Buffer.alloc(32, 7);

/** Tables that the service would empty meanwhile, so that the two do not work on each other's rows. */
export const BASELINE_TABLES = `CREATE SCHEMA IF NOT EXISTS baseline;
  CREATE TABLE IF NOT EXISTS baseline.idempotency (LIKE public.idempotency INCLUDING ALL)`;

function folded(values: Values): Values {
  const title = String(values.title).toLowerCase();
  return { title, $title: title, description: String(values.description).toLowerCase(), tags: values.tags };
}

function wordsOfTags(tags: unknown): string {
  return Array.isArray(tags) ? tags.join(' ') : '';
}

function changesOf(values: Values): Record<string, [unknown, unknown]> {
  return Object.fromEntries(Object.entries(values).map(([code, value]) => [code, [null, value]]));
}

async function serve(options: BaselineOptions): Promise<void> {
  const pool = new pg.Pool({
    connectionString: options.databaseUrl,
    max: 20,
    keepAlive: true,
    options: '-c timezone=UTC -c datestyle=ISO',
  });
  const server = Fastify({ logger: false, bodyLimit: 10 * 1024 * 1024 });

  server.get<{ Params: { id: string } }>('/records/:id', async (request, reply) => {
    const { rows } = await pool.query({ name: 'read', text: READ, values: [request.params.id] });
    return rows[0] ?? reply.code(404).send({});
  });

  server.get<{ Querystring: { limit: string; offset: string } }>('/records', async (request) => {
    const { limit, offset } = request.query;
    const values = [options.typeId, VISIBLE_AREAS, options.ownerId, Number(limit), Number(offset)];
    const { rows } = await pool.query({ name: 'list', text: LIST, values });
    return { rows };
  });

  server.post<{ Body: { values: Values } }>('/records', async (request, reply) => {
    const { values } = request.body;
    const id = randomUUIDv7();
    const now = new Date().toISOString();
    const answer = { id, typeDefinitionId: options.typeId, revision: 1, values, createdAt: now };
    const { rows } = await pool.query({
      name: 'create',
      text: CREATE,
      values: [
        id,
        options.typeId,
        options.typeVersion,
        values.title,
        options.workflowStateId,
        JSON.stringify(values),
        JSON.stringify(folded(values)),
        now,
        options.ownerId,
        randomUUIDv7(),
        options.keyId,
        request.id,
        JSON.stringify(changesOf(values)),
        HASH,
        request.headers['idempotency-key'],
        JSON.stringify(answer),
        options.profileId,
        values.description,
        wordsOfTags(values.tags),
      ],
    });
    return reply.code(201).send({ ...answer, number: rows[0].number });
  });

  server.patch<{ Params: { id: string }; Body: { expectedRevision: number; changes: Values } }>(
    '/records/:id',
    async (request, reply) => {
      const { expectedRevision, changes } = request.body;
      const { rows } = await pool.query({
        name: 'update',
        text: UPDATE,
        values: [
          request.params.id,
          expectedRevision,
          JSON.stringify(changes),
          new Date().toISOString(),
          options.ownerId,
          randomUUIDv7(),
          options.keyId,
          request.id,
          JSON.stringify(changesOf(changes)),
          HASH,
        ],
      });
      return rows[0] ?? reply.code(409).send({});
    },
  );

  activityRoutes(server, pool, options);
  membershipRoutes(server, pool, options);
  const address = await server.listen({ host: '127.0.0.1', port: 0 });
  process.stdout.write(`ready at ${address}\n`);
  process.once('SIGTERM', () => {
    void server.close().then(() => pool.end());
  });
}

if (import.meta.main) await serve(JSON.parse(process.argv[2] ?? '{}') as BaselineOptions);
