/** SQL to find the users who can assign roles. They are able to repair the rights of other users. */
import sql, { type Sql } from 'sql-template-tag';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';

/**
 * Whether an ACTIVE user holds `role.assign`, directly or by a group, and can authenticate: by a password, by a key, or by the
 * provider if one is configured.
 */
export async function administratorExists(ctx: ReadContext, provider: boolean): Promise<boolean> {
  const byProvider: Sql = provider ? sql`u.external_id IS NOT NULL OR u.email_key IS NOT NULL` : sql`false`;
  const rows = await ctx.query<{ found: boolean }>(sql`
    WITH RECURSIVE assigned AS (
      SELECT a.member_type, a.member_id FROM role_assignments a JOIN config_items r ON r.id = a.role_id
      WHERE r.section = 'roles' AND r.state = 'ACTIVE' AND r.compiled->'rights' @> '["role.assign"]'
    ), inside AS (
      SELECT g.id FROM assigned a JOIN groups g ON g.id = a.member_id AND g.state = 'ACTIVE' WHERE a.member_type = 'group'
      UNION
      SELECT g.id FROM inside i JOIN group_members m ON m.group_id = i.id AND m.member_type = 'group'
        JOIN groups g ON g.id = m.member_id AND g.state = 'ACTIVE'
    ), holders AS (
      SELECT member_id AS id FROM assigned WHERE member_type = 'user'
      UNION
      SELECT m.member_id FROM inside i JOIN group_members m ON m.group_id = i.id AND m.member_type = 'user'
    )
    SELECT EXISTS (SELECT 1 FROM holders h JOIN users u ON u.id = h.id WHERE u.state = 'ACTIVE' AND (
      u.password_hash IS NOT NULL OR ${byProvider} OR EXISTS (SELECT 1 FROM api_keys k WHERE k.owner_id = u.id
        AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > ${ctx.now}::timestamptz)))) AS found`);
  return rows[0]?.found === true;
}
