/** People of a record for those who work on it: how to reach the requester, and whom a comment can mention. */
import { COMMENT_RIGHTS } from '../../contract/comment-visibility.ts';
import { faultAt } from '../../lib/fault.ts';
import type { Runner } from '../../platform/unit-of-work/binding.ts';
import type { Actor, ReadContext } from '../../platform/unit-of-work/context.ts';
import { findContact, searchNames } from '../identity/index.ts';
import { fieldInRole, named } from '../metadata/index.ts';
import { readableValues, requireAction, requireVisible } from '../objects/index.ts';

/** Most people that are offered at once. */
const MAX_PEOPLE = 8;
/** Most people whose rights are read for one answer. */
const MAX_CANDIDATES = 50;

interface Contact {
  id: string;
  name: string;
  login: string | null;
  email: string | null;
  unit: string | null;
}

/**
 * The requester of the record; null if it names no user or the caller may not read the field. Login, e-mail and unit are for
 * those who work on the record: they may see all its comments.
 *
 * @throws Fault NOT_FOUND
 */
export async function getRequester(ctx: ReadContext, objectId: string): Promise<Contact | null> {
  const object = await requireVisible(ctx, objectId);
  const field = fieldInRole(object.version, 'requester');
  const id = field === undefined ? null : readableValues(object)[field.code];
  const row = typeof id === 'string' ? await findContact(ctx, id) : undefined;
  if (row === undefined) return null;
  const works = COMMENT_RIGHTS.every((right) => object.right.can(right));
  const shown = works || ctx.actor.has('user.administer') || row.id === ctx.actor.userId;
  return {
    id: row.id,
    name: row.name,
    login: shown ? row.login : null,
    email: shown ? row.email : null,
    unit: shown && row.unit !== null ? named(ctx, row.unit) : null,
  };
}

interface Mentionable {
  id: string;
  name: string;
  login: string;
  unit: string | null;
  canRead: boolean;
}

/**
 * Active users by name or login, those who may read the record first.
 *
 * @throws Fault NOT_FOUND, RIGHT_MISSING
 */
export async function listMentionable(
  { work, caller }: Pick<Runner, 'work' | 'caller'>,
  { objectId, q = '' }: { objectId: string; q?: string },
  actorOf: (userId: string) => Promise<Actor | undefined>,
): Promise<Mentionable[]> {
  if (!q.isWellFormed()) throw faultAt('INVALID_REQUEST', 'query.q', 'QUERY_TEXT');
  return await work.read(caller, async (ctx) => {
    const object = await requireVisible(ctx, objectId);
    for (const right of [...COMMENT_RIGHTS, 'comment.create'] as const) requireAction(object, right);
    const readers: Mentionable[] = [];
    const others: Mentionable[] = [];
    for (const { id, name, login = '', unit } of await searchNames(
      ctx,
      'user',
      q.replaceAll('\0', ''),
      MAX_CANDIDATES,
    )) {
      if (readers.length === MAX_PEOPLE) break;
      const canRead = (await actorOf(id))?.on(object.type.id, object.facts, ctx.now).can('read') ?? false;
      const unitName = unit === undefined || unit === null ? null : named(ctx, unit);
      (canRead ? readers : others).push({ id, name: named(ctx, name), login, unit: unitName, canRead });
    }
    return [...readers, ...others].slice(0, MAX_PEOPLE);
  });
}
