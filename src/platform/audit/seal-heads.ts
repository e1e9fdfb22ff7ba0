/**
 * Writes heads of the audit chain to a place outside the database. An attacker with write access to the database can rebuild or
 * truncate the whole chain, but cannot change a head stored elsewhere. Each head is written at least once. The table
 * `audit_heads` stores the progress for each place.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import sql from 'sql-template-tag';
import { S3Heads } from '../blobs/s3.ts';
import type { Database, Queryable } from '../database/pool.ts';
import type { Outbound } from '../outbound/outbound.ts';
import type { SealHead } from '../journal/seals.ts';

/** `NUMBER:HASH`, as printed by `docket audit head`. */
const HEAD = /^(\d{1,15}):([0-9a-f]{64})$/;
/** Maximum number of heads per write, and per comparison. A head covers the whole chain before it. */
const AT_ONCE = 500;

export interface HeadPlace {
  /** Identifies the place; contains nothing secret. */
  readonly id: string;
  /** Resolves when the heads, oldest first, are durable. */
  write(heads: readonly SealHead[]): Promise<void>;
}

/** Parses a head; undefined if the text is not one. */
export function parseHead(text: string): SealHead | undefined {
  const [, number, hash] = HEAD.exec(text.trim()) ?? [];
  return number === undefined || hash === undefined ? undefined : { number: Number(number), hash };
}

function linesOf(heads: readonly SealHead[]): string {
  return heads.map(({ number, hash }) => `${number}:${hash}\n`).join('');
}

/** The place that the setting names: `file:/PATH`, `s3://BUCKET/FOLDER?endpoint=URL` or `https://…`. */
export function headPlace(setting: string, outbound: Pick<Outbound, 'post'>): HeadPlace {
  const id = createHash('sha256').update(setting).digest('hex').slice(0, 32);
  if (setting.startsWith('s3:')) {
    const bucket = new S3Heads(setting);
    return { id, write: (heads) => bucket.put(heads.at(-1)?.number ?? 0, linesOf(heads)) };
  }
  if (setting.startsWith('https:')) return { id, write: (heads) => post(outbound, setting, heads) };
  return { id, write: (heads) => append(setting.slice('file:'.length), heads) };
}

async function append(file: string, heads: readonly SealHead[]): Promise<void> {
  const handle = await open(file, 'a', 0o640);
  try {
    await handle.write(linesOf(heads));
    await handle.datasync();
  } finally {
    await handle.close();
  }
}

async function post(outbound: Pick<Outbound, 'post'>, url: string, heads: readonly SealHead[]): Promise<void> {
  const outcome = await outbound.post(url, { 'content-type': 'text/plain' }, Buffer.from(linesOf(heads)));
  if (outcome.kind === 'answered' && outcome.status >= 200 && outcome.status < 300) return;
  const why = outcome.kind === 'answered' ? `status ${outcome.status}` : outcome.reason;
  throw new Error(`heads of the audit log could not be sent: ${why}`);
}

/**
 * Writes the heads that the place does not have yet. At a new place it starts with the newest, which covers all before it. Any
 * number of processes may do this concurrently; a head is then written more than once.
 *
 * @returns whether more heads are pending
 */
export async function writeHeads(db: Database, place: HeadPlace): Promise<boolean> {
  const heads = await db.query<SealHead>(sql`
    SELECT s.number, encode(s.hash, 'hex') AS hash FROM journal_seals s
    WHERE s.number > coalesce((SELECT h.number FROM audit_heads h WHERE h.destination = ${place.id}),
      (SELECT j.number - 1 FROM journal_sealing j)) ORDER BY s.number LIMIT ${AT_ONCE}::int`);
  const newest = heads.at(-1);
  if (newest === undefined) return false;
  await place.write(heads);
  await db.query(sql`
    WITH others AS (DELETE FROM audit_heads WHERE destination <> ${place.id})
    INSERT INTO audit_heads AS h (destination, number) VALUES (${place.id}, ${newest.number}::bigint)
    ON CONFLICT (destination) DO UPDATE SET number = greatest(h.number, excluded.number)`);
  return heads.length === AT_ONCE;
}

/** Deletes the progress of all places, for use when the setting no longer names one. */
export async function forgetPlaces(db: Queryable): Promise<void> {
  await db.query(sql`DELETE FROM audit_heads`);
}

/** The number of heads that the place of the setting lacks, and the time of the first of them. */
export async function headsBehind(db: Queryable): Promise<{ waiting: number; since: string | null }> {
  const [row] = await db.query<{ waiting: number; since: string | null }>(sql`
    SELECT count(*)::int AS waiting, min(s.sealed_at) AS since FROM journal_seals s
    WHERE s.number > coalesce((SELECT max(h.number) FROM audit_heads h), (SELECT j.number - 1 FROM journal_sealing j))`);
  return row ?? { waiting: 0, since: null };
}

/**
 * The newest heads in a file or bucket, newest first.
 *
 * @throws Error if there are none, or if a line is not a head
 */
export async function readHeads(from: string): Promise<SealHead[]> {
  const texts = from.startsWith('s3:') ? await new S3Heads(from).newest(AT_ONCE) : await lastLines(from);
  const heads = texts
    .flatMap((text) => text.split('\n'))
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const head = parseHead(line);
      if (head === undefined) throw new Error(`${from} holds a line that is no head NUMBER:HASH: ${line.slice(0, 80)}`);
      return head;
    });
  if (heads.length === 0) throw new Error(`${from} holds no heads.`);
  return heads.sort((a, b) => b.number - a.number).slice(0, AT_ONCE);
}

async function lastLines(file: string): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of createInterface({ input: createReadStream(file.replace(/^file:/, '')) })) {
    lines.push(line);
    if (lines.length > 2 * AT_ONCE) lines.splice(0, AT_ONCE);
  }
  return lines;
}
