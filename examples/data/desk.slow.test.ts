/** A small desk of generated data: all states, times over 30 days, equal names, articles. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { it } from 'node:test';
import { openEmbedded } from '../../src/platform/database/embedded.ts';
import { Database } from '../../src/platform/database/pool.ts';
import sql from 'sql-template-tag';
import { fillDesk } from './desk.ts';
import { people, tickets } from './desk-source.ts';

it('generates people who share names, and long titles', async () => {
  const names = people(1500).map(({ displayName }) => displayName);
  assert.ok(new Set(names).size < 300);
  assert.equal(new Set(people(1500).map(({ login }) => login)).size, 1500);
  const titles = (await tickets(undefined, 5500)).map(({ title }) => title);
  assert.ok(titles.every(({ length }) => length > 60 && length <= 200));
  assert.equal(new Set(titles).size, 5500);
});

it('fills an installation', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'docket-desk-'));
  try {
    const lines: string[] = [];
    const size = { incidents: 60, users: 60, articles: 5 };
    await fillDesk({ folder, from: undefined, keep: false, size, say: (line) => void lines.push(line) });
    assert.match(lines.join('\n'), /Sign in as admin, \S+ \(agent\), \S+ \(lead\) or/);
    const embedded = await openEmbedded({ dataDir: path.join(folder, 'service'), log: () => {}, use: 'tool' });
    const db = new Database({ url: embedded.url, max: 1 });
    const [row] = await db.query<Record<string, number>>(sql`
      SELECT count(*)::int AS incidents, count(DISTINCT workflow_state_id)::int AS states,
        extract(day FROM max(created_at) - min(created_at))::int AS days,
        (SELECT count(*)::int FROM users) AS users,
        (SELECT count(*)::int FROM kb_versions WHERE state = 'ACTIVE') AS articles FROM objects`);
    await db.close();
    await embedded.stop();
    // Beside the people: the administrator, and the user of the rules of the starter.
    assert.deepEqual([row?.['incidents'], row?.['users'], row?.['articles']], [60, 62, 5]);
    assert.ok((row?.['states'] ?? 0) >= 4 && (row?.['days'] ?? 0) >= 20, JSON.stringify(row));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
