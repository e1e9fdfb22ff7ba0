/** The baseline server's routes around a record; see `baseline-server.ts`. */
import { createHash, randomUUIDv7 } from 'node:crypto';
import { mkdir, open, readFile, rename } from 'node:fs/promises';
import path from 'node:path';
import type { FastifyInstance } from 'fastify';
import type pg from 'pg';
import { commentWords } from './words.ts';

export interface BaselineActivity {
  ownerId: string;
  keyId: string;
  /** Where the service stores the content of attachments. */
  blobs: string;
  /** State ids that the measured transitions go between. */
  states: [string, string];
}

/** $1 event id, $2 instant, $3 record, $4 actor, $5 key, $6 correlation id, $7 data, $8 hash; `{type}` and `{from}` are put in. */
const event = (type: string, from: string): string => `event AS (
    INSERT INTO journal (id, at, type, object_id, actor_id, via, key_id, correlation_id, data, hash)
    SELECT $1, $2, '${type}', $3, $4, 'api', $5, $6, $7::jsonb, $8 ${from}
  )`;

const COMMENT = `WITH ${event('CommentAdded', '')}, words AS (
    INSERT INTO search_comments (id, object_id, visibility, updated_at, size, words)
    SELECT $9, $3, $11, $2, length(words), words FROM (SELECT ${commentWords('$10')} AS words) AS w
  )
  INSERT INTO comments (id, object_id, revision, body, visibility, author_id, created_at, updated_at)
  VALUES ($9, $3, 1, $10, $11, $4, $2, $2)`;

const COMMENTS = `SELECT c.id, c.object_id AS "objectId", c.revision, c.body, c.visibility, c.state, c.author_id AS "authorId",
    u.display_name AS "authorName", c.created_at AS "createdAt", c.updated_at AS "updatedAt"
  FROM comments c LEFT JOIN users u ON u.id = c.author_id
  WHERE c.object_id = $1 AND c.state = 'ACTIVE' ORDER BY c.created_at, c.id`;

const TRANSITION = `WITH record AS (
    UPDATE objects SET revision = revision + 1, workflow_state_id = $11, updated_at = $2, updated_by = $4
    WHERE id = $3 AND revision = $9 AND workflow_state_id = $10 RETURNING revision
  ), ${event('ObjectTransitioned', 'FROM record')}
  SELECT revision FROM record`;

const RELATION = `WITH record AS (
    INSERT INTO relations (id, definition_id, source_id, target_id, revision, created_at, created_by)
    VALUES ($9, $10, $3, $11, 1, $2, $4) ON CONFLICT DO NOTHING RETURNING id
  ), ${event('RelationAdded', 'FROM record')}
  SELECT id FROM record`;

const FILE = `WITH content AS (
    INSERT INTO blobs (sha256, touched_at) VALUES ($10, $2) ON CONFLICT (sha256) DO UPDATE SET touched_at = excluded.touched_at
  ), ${event('AttachmentAdded', '')}
  INSERT INTO attachments (id, object_id, original_filename, media_type, size, sha256, revision, created_at, created_by)
  VALUES ($9, $3, $11, $12, $13, $10, 1, $2, $4)`;

const CONTENT = `SELECT sha256, media_type AS "mediaType" FROM attachments WHERE id = $1`;

const BULK = `WITH wanted AS (
    SELECT * FROM jsonb_to_recordset($1::jsonb) AS r (id uuid, expected integer, changes jsonb, event uuid, note jsonb)
  ), record AS (
    UPDATE objects o SET revision = o.revision + 1, "values" = o."values" || w.changes, updated_at = $2, updated_by = $3
    FROM wanted w WHERE o.id = w.id AND o.revision = w.expected RETURNING o.id, o.revision, w.event, w.note
  ), event AS (
    INSERT INTO journal (id, at, type, object_id, revision, actor_id, via, key_id, correlation_id, changes, hash)
    SELECT event, $2, 'ObjectUpdated', id, revision, $3, 'api', $4, $5, note, $6 FROM record
  )
  SELECT id AS "objectId", revision, 'SUCCEEDED' AS status FROM record`;

const HASH = Buffer.alloc(32, 7);

interface BulkItem {
  objectId: string;
  expectedRevision: number;
  changes: Record<string, unknown>;
}

export function activityRoutes(server: FastifyInstance, pool: pg.Pool, options: BaselineActivity): void {
  type OfRecord<Body> = { Params: { id: string }; Body: Body };
  const heads = (request: { id: string }, objectId: string, data: unknown): unknown[] => [
    randomUUIDv7(),
    new Date().toISOString(),
    objectId,
    options.ownerId,
    options.keyId,
    request.id,
    JSON.stringify(data),
    HASH,
  ];

  server.post<OfRecord<{ body: string; visibility: string }>>('/records/:id/comments', async (request, reply) => {
    const id = randomUUIDv7();
    const { body, visibility } = request.body;
    const values = [...heads(request, request.params.id, { commentId: id, visibility }), id, body, visibility];
    await pool.query({ name: 'comment', text: COMMENT, values });
    return reply.code(201).send({ id, revision: 1, body, visibility });
  });

  server.get<{ Params: { id: string } }>('/records/:id/comments', async (request) => {
    const { rows } = await pool.query({ name: 'comments', text: COMMENTS, values: [request.params.id] });
    return { data: rows };
  });

  server.post<OfRecord<{ transitionId: string; expectedRevision: number; expectedStateId: string }>>(
    '/records/:id/transitions',
    async (request, reply) => {
      const { transitionId, expectedRevision, expectedStateId } = request.body;
      const to = options.states.find((state) => state !== expectedStateId);
      const head = heads(request, request.params.id, { transitionId });
      const values = [...head, expectedRevision, expectedStateId, to];
      const { rows } = await pool.query({ name: 'transition', text: TRANSITION, values });
      return rows[0] ?? reply.code(409).send({});
    },
  );

  server.post<OfRecord<{ definitionId: string; targetObjectId: string }>>(
    '/records/:id/relations',
    async (request, reply) => {
      const id = randomUUIDv7();
      const { definitionId, targetObjectId } = request.body;
      const values = [...heads(request, request.params.id, { relationId: id }), id, definitionId, targetObjectId];
      await pool.query({ name: 'relation', text: RELATION, values });
      return reply.code(201).send({ relation: { id, revision: 1 } });
    },
  );

  server.post<OfRecord<{ filename: string; mediaType: string; contentBase64: string }>>(
    '/records/:id/attachments',
    async (request, reply) => {
      const { filename, mediaType, contentBase64 } = request.body;
      const id = randomUUIDv7();
      const bytes = Buffer.from(contentBase64, 'base64');
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      await keep(options.blobs, sha256, bytes);
      const head = heads(request, request.params.id, { attachmentId: id });
      const values = [...head, id, sha256, filename, mediaType, bytes.byteLength];
      await pool.query({ name: 'file', text: FILE, values });
      return reply.code(201).send({ id, size: bytes.byteLength, revision: 1 });
    },
  );

  server.get<{ Params: { id: string } }>('/files/:id', async (request, reply) => {
    const { rows } = await pool.query({ name: 'content', text: CONTENT, values: [request.params.id] });
    const { sha256, mediaType } = rows[0] as { sha256: string; mediaType: string };
    const bytes = await readFile(path.join(options.blobs, sha256.slice(0, 2), sha256));
    return reply.type(mediaType).send(bytes);
  });

  server.post<{ Body: { items: BulkItem[] } }>('/records-in-bulk', async (request) => {
    const rows = request.body.items.map(({ objectId, expectedRevision, changes }) => ({
      id: objectId,
      expected: expectedRevision,
      changes,
      event: randomUUIDv7(),
      note: Object.fromEntries(Object.entries(changes).map(([code, value]) => [code, [null, value]])),
    }));
    const values = [JSON.stringify(rows), new Date().toISOString(), options.ownerId, options.keyId, request.id, HASH];
    const answer = await pool.query({ name: 'bulk', text: BULK, values });
    return { data: answer.rows };
  });
}

/** Written, synced and renamed, as safely as the service does it. */
async function keep(root: string, sha256: string, bytes: Buffer): Promise<void> {
  const folder = path.join(root, sha256.slice(0, 2));
  await mkdir(folder, { recursive: true });
  const temporary = path.join(root, randomUUIDv7());
  const file = await open(temporary, 'wx');
  await file.writeFile(bytes);
  await file.datasync();
  await file.close();
  await rename(temporary, path.join(folder, sha256));
  const parent = await open(folder, 'r');
  await parent.sync();
  await parent.close();
}
