/** Membership scenarios: users become members of nested groups, thousands of both. */
import type { FastifyInstance } from 'fastify';
import { randomUUIDv7 } from 'node:crypto';
import type pg from 'pg';
import { type Scenario, send } from './scenario.ts';

/**
 * Each group is a member of the group whose number is a tenth of its own, so that the last ones are nested three levels deep.
 */
const GROUPS = 5000;
/** Users of these scenarios only, so that nobody becomes a member of hundreds of groups. */
const MEMBERS = 5000;

/** Makes groups and users, straight into the tables. @returns their ids */
export async function loadGroups(db: pg.Client): Promise<{ groups: string[]; members: string[] }> {
  const { rows } = await db.query<{ id: string }>(
    `INSERT INTO groups (id, code, code_key, name, created_at, updated_at)
      SELECT gen_random_uuid(), 'g-' || n, 'g-' || n, to_jsonb('Group ' || n), now(), now() FROM generate_series(1, $1::int) n
      RETURNING id`,
    [GROUPS],
  );
  await db.query(
    `INSERT INTO group_members (id, group_id, member_type, member_id, created_at)
      SELECT gen_random_uuid(), o.id, 'group', i.id, now()
      FROM (SELECT id, 'g-' || (substr(code, 3)::int / 10) AS outside FROM groups WHERE code ~ '^g-[0-9]+$') i
        JOIN groups o ON o.code = i.outside`,
  );
  const users = await db.query<{ id: string }>(
    `INSERT INTO users (id, login, login_key, display_name, created_at, updated_at)
      SELECT gen_random_uuid(), 'member-' || n, 'member-' || n, 'Member ' || n, now(), now() FROM generate_series(1, $1::int) n
      RETURNING id`,
    [MEMBERS],
  );
  for (const table of ['groups', 'group_members', 'users']) await db.query(`VACUUM ANALYZE ${table}`);
  return { groups: rows.map(({ id }) => id), members: users.rows.map(({ id }) => id) };
}

export const MEMBERSHIP_SCENARIOS: readonly Scenario[] = [
  {
    name: 'membership',
    says: `make one of ${MEMBERS.toLocaleString('en')} people a member of one of ${GROUPS.toLocaleString('en')} nested groups`,
    prepare: (state, subject) => () => {
      const { members, groups } = state.target.facts;
      const body = { groupId: state.pick(groups), memberId: state.pick(members) };
      const path = subject === 'docket' ? '/api/v1/identity/group-memberships' : '/memberships';
      return { text: send(state, subject, 'POST', path, body), status: 201 };
    },
  },
];

const MEMBERSHIP = `WITH member AS (
    INSERT INTO group_members (id, group_id, member_type, member_id, created_at) VALUES ($1, $2, 'user', $3, $4)
    ON CONFLICT DO NOTHING RETURNING id
  ), event AS (
    INSERT INTO journal (id, at, type, subject, actor_id, via, key_id, correlation_id, data, hash)
    SELECT $5, $4, 'GroupMemberAdded', 'group:' || $2::text, $6, 'api', $7, $8, $9::jsonb, $10 FROM member
  ) SELECT id FROM member`;

const HASH = Buffer.alloc(32, 7);

/** The baseline server's route: the row and its event, with no look at roles or rights. */
export function membershipRoutes(
  server: FastifyInstance,
  pool: pg.Pool,
  options: { ownerId: string; keyId: string },
): void {
  server.post<{ Body: { groupId: string; memberId: string } }>('/memberships', async (request, reply) => {
    const id = randomUUIDv7();
    const { groupId, memberId } = request.body;
    const data = JSON.stringify({ membershipId: id, memberId, memberType: 'user' });
    const by = [options.ownerId, options.keyId, request.id];
    const values = [id, groupId, memberId, new Date().toISOString(), randomUUIDv7(), ...by, data, HASH];
    await pool.query({ name: 'membership', text: MEMBERSHIP, values });
    return reply.code(201).send({ id, groupId, memberId, memberType: 'user' });
  });
}
