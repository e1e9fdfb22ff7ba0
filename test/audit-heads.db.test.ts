/**
 * Heads of the audit chain outside of the database: written by the running service, tried again until they are there, and what
 * finds that the newest seals were cut off together with their rows.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import sql from 'sql-template-tag';
import { instant } from '../src/platform/clock.ts';
import { Database } from '../src/platform/database/pool.ts';
import { journalHash } from '../src/platform/journal/journal.ts';
import { forgetPlaces, headPlace, headsBehind, readHeads, writeHeads } from '../src/platform/audit/seal-heads.ts';
import { sealCursor } from '../src/platform/journal/seals.ts';
import { runCommand, type CommandResult } from './support/commands.ts';
import { createTestDatabase, type TestDatabase } from './support/database.ts';
import { startService } from './proofs/fault-service.ts';
import { s3Server, type TestS3 } from './support/s3.ts';
import { sealAll } from './support/seal-all.ts';

const ITSM = path.resolve(import.meta.dirname, '../config/itsm');

let folder: string;
let database: TestDatabase;
let db: Database;
let env: Record<string, string>;
let s3: TestS3;

const outbound = (statuses: number[], bodies: string[] = []) => ({
  post: async (_url: string, _headers: unknown, body: Buffer) => {
    bodies.push(body.toString());
    return {
      kind: 'answered' as const,
      status: statuses.shift() ?? 200,
      durationMs: 1,
      body: Buffer.alloc(0),
      retryAfter: undefined,
    };
  },
});
const none = outbound([]);
const verify = (heads: string): Promise<CommandResult> => runCommand(['audit', 'verify', '--heads', heads], env);

/** One more sealed row. */
async function seal(): Promise<void> {
  const nothing = {
    object_id: null,
    subject: null,
    revision: null,
    actor_id: null,
    key_id: null,
    correlation_id: null,
  };
  const row = {
    ...nothing,
    id: randomUUID(),
    at: instant(Date.now()),
    type: 'T',
    via: 'system',
    changes: null,
    data: null,
  };
  await db.query(sql`
    INSERT INTO journal (id, at, type, via, hash)
    VALUES (${row.id}, ${row.at}, ${row.type}, ${row.via}, decode(${journalHash(row)}, 'hex'))`);
  await sealAll(db);
}

/** Removes the newest seal, its rows and the recorded end of the chain, as a user with database access could. */
async function cutOff(): Promise<void> {
  await db.query(sql`
    WITH cut AS (DELETE FROM journal_seals WHERE number = (SELECT max(number) FROM journal_seals) RETURNING seqs)
    DELETE FROM journal WHERE seq = ANY (SELECT unnest(seqs) FROM cut)`);
  await db.query(sql`
    UPDATE journal_sealing SET (number, hash, seq, txid) = (
      SELECT s.number, s.hash, s.seqs[array_length(s.seqs, 1)], (SELECT j.txid FROM journal j WHERE j.seq = s.seqs[array_length(s.seqs, 1)])
      FROM journal_seals s ORDER BY s.number DESC LIMIT 1)`);
}

describe('exported heads of the audit chain', () => {
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'docket-heads-'));
    database = await createTestDatabase();
    db = new Database({ url: database.url, max: 3 });
    env = { DATABASE_URL: database.url, DOCKET_DATA_DIR: path.join(folder, 'data'), DOCKET_PORT: '0' };
    assert.equal((await runCommand(['apply', ITSM], env)).code, 0);
    s3 = await s3Server({ allowMismatchedSignatures: true });
  });
  after(async () => {
    await s3.close();
    await db.close();
    await database.drop();
    await rm(folder, { recursive: true, force: true });
  });

  it('are written after each seal and reveal a truncated chain', async () => {
    const file = path.join(folder, 'heads');
    const service = await startService({ ...env, DOCKET_AUDIT_HEADS: `file:${file}` });
    const written = async (): Promise<string> => await readFile(file, 'utf8').catch(() => '');
    const until = performance.now() + 60_000;
    while ((await written()) === '' && performance.now() < until) await sleep(50);
    const figures = await (await fetch(`${service.url}/metrics`)).text();
    assert.match(figures, /^docket_audit_heads_pending \d+$/m);
    assert.equal(await service.stop(), 0);
    const before = await sealCursor(db);
    assert.equal((await written()).trim().split('\n').at(-1), `${before.number}:${before.hash}`);
    await seal();
    await seal();
    await writeHeads(db, headPlace(`file:${file}`, none));
    const { number } = await sealCursor(db);
    assert.deepEqual((await readHeads(file)).map((head) => head.number).slice(0, 2), [number, number - 1]);
    const sound = await verify(file);
    assert.equal(sound.code, 0, sound.err);
    assert.match(sound.err, new RegExp(`up to seal ${number}; 0 newer seals have`));
    await cutOff();
    assert.equal((await runCommand(['audit', 'verify'], env)).code, 0, 'the database alone shows nothing');
    const cut = await verify(file);
    assert.equal(cut.code, 1);
    assert.match(cut.out, new RegExp(`^seal ${number}: seal: it is not there, though it was noted elsewhere$`, 'm'));
    await seal();
    const other = await verify(file);
    assert.match(
      other.out,
      new RegExp(`^seal ${number}: seal: its hash is not the one that was noted elsewhere$`, 'm'),
    );
    assert.doesNotMatch(other.out, new RegExp(`^seal ${number - 1}:`, 'm'), 'what agrees covers the chain before it');
  });

  it('are written to a bucket and compared with it', async () => {
    const url = `s3://docket/audit/heads?endpoint=${s3.endpoint}`;
    for (let turn = 0; turn < 3; turn++) {
      await seal();
      assert.equal(await writeHeads(db, headPlace(url, none)), false);
    }
    const { number, hash } = await sealCursor(db);
    assert.deepEqual((await readHeads(url))[0], { number, hash });
    assert.equal((await verify(url)).code, 0);
    await cutOff();
    const cut = await verify(url);
    assert.equal(cut.code, 1);
    assert.match(cut.out, new RegExp(`^seal ${number}: seal: it is not there`, 'm'));
  });

  it('are retried until they are written, and doctor reports a delay', async () => {
    const place = headPlace('https://heads.example.org/docket', outbound([503, 200, 200]));
    await seal();
    const { number, hash } = await sealCursor(db);
    await assert.rejects(writeHeads(db, place), /could not be sent: status 503/);
    await writeHeads(db, place);
    const bodies: string[] = [];
    await seal();
    await seal();
    assert.equal((await headsBehind(db)).waiting, 2);
    const late = { ...env, DOCKET_AUDIT_HEADS: 'https://heads.example.org/docket' };
    assert.match((await runCommand(['doctor'], late)).out, /^ok {4}audit heads: 2 not yet written/m);
    await db.query(
      sql`UPDATE journal_seals SET sealed_at = sealed_at - interval '1 hour' WHERE number > ${number}::bigint`,
    );
    assert.match(
      (await runCommand(['doctor'], late)).out,
      /^FAIL {2}audit heads: 2 not yet written, .*check that a worker runs/m,
    );
    assert.match((await runCommand(['doctor'], env)).out, /^ok {4}audit heads: written to the log only/m);
    await writeHeads(db, headPlace('https://heads.example.org/docket', outbound([], bodies)));
    assert.match(bodies.join(''), new RegExp(`^${number + 1}:[0-9a-f]{64}\n${number + 2}:[0-9a-f]{64}\n$`));
    assert.ok(!bodies.join('').includes(hash));
    assert.equal((await headsBehind(db)).waiting, 0);
    await forgetPlaces(db);
    assert.deepEqual(await db.query(sql`SELECT 1 FROM audit_heads`), []);
  });

  it('are rejected where none exist or the location is invalid', async () => {
    const file = path.join(folder, 'strange');
    await writeFile(file, '');
    assert.match((await verify(file)).err, /holds no heads/);
    await writeFile(file, 'something else\n');
    assert.match((await verify(file)).err, /holds a line that is no head NUMBER:HASH: something else/);
    assert.match((await verify(path.join(folder, 'absent'))).err, /absent/);
    assert.equal((await verify('https://heads.example.org')).code, 2);
    const wrong = await runCommand(['audit', 'head'], { ...env, DOCKET_AUDIT_HEADS: 'ftp://user:geheim@a' });
    assert.match(wrong.err, /DOCKET_AUDIT_HEADS must be file:\/PATH, s3:\/\//);
    assert.doesNotMatch(wrong.err, /geheim/);
  });
});
