/** Choices of users, groups and units by name. For a field of assignees, those who may work on the record (docs/spec/records.md#assignees). */
import { canName } from '../../contract/rights.ts';
import { faultAt } from '../../lib/fault.ts';
import type { ActorOf, ReadContext } from '../../platform/unit-of-work/context.ts';
import { whoHolds } from '../access/index.ts';
import { type NameChoice, type NamedKind, type PeopleRange, searchNames, searchUsers } from '../identity/index.ts';
import { findType, named, registry } from '../metadata/index.ts';
import { type AssigneeOffer, assigneeOffer, requireVisible } from '../objects/index.ts';

const MAX_CHOICES = 30;
/** Users whose rights are read in one step, and most steps for one answer. */
const STEP = 50;
const MAX_STEPS = 20;

/**
 * Whether the caller may see or set a value of the data type on some record. Otherwise the caller gets no names of that kind.
 */
export function mayUseNames(ctx: ReadContext, kind: NamedKind): boolean {
  if (ctx.actor.has('user.administer')) return true;
  return registry(ctx).active.some((type) =>
    [...type.newest.fields.values()].some(
      ({ code, dataType }) => dataType === kind && canName(ctx.actor.fieldAccess(type.id), code),
    ),
  );
}

/** Where the chosen value will stand: in a record, or in a new one of the type. */
interface FieldOwner {
  objectId?: string;
  typeId?: string;
  field?: string;
}

interface Wanted extends FieldOwner {
  kind: NamedKind;
  q?: string;
  /** Only these users, separated by commas. */
  ids?: string;
}

/** @throws Fault RIGHT_MISSING, NOT_FOUND for a record, INVALID_REQUEST for a type or field that the caller may not name */
export async function lookUp(ctx: ReadContext, query: Wanted, actorOf: ActorOf): Promise<Choice[]> {
  if (!mayUseNames(ctx, query.kind)) ctx.actor.require('user.administer');
  if (query.q !== undefined && !query.q.isWellFormed()) {
    throw faultAt('INVALID_REQUEST', 'query.q', 'QUERY_TEXT');
  }
  const text = (query.q ?? '').replaceAll('\0', '');
  const units = mayUseNames(ctx, 'org-unit');
  return (await find(ctx, query, text, actorOf)).map((one) => choiceOf(ctx, one, units));
}

async function find(ctx: ReadContext, query: Wanted, text: string, actorOf: ActorOf): Promise<NameChoice[]> {
  if (query.kind !== 'user') return await searchNames(ctx, query.kind, text, MAX_CHOICES);
  const ids = query.ids?.split(',');
  const offer = await offerAt(ctx, query);
  if (offer === undefined) return await searchUsers(ctx, text, MAX_CHOICES, { ids });
  return await findAssignees(ctx, { text, ids, offer }, actorOf);
}

/** Reads holders of roles step by step, until enough of them may work on the record. */
async function findAssignees(
  ctx: ReadContext,
  { text, ids, offer }: { text: string; ids: readonly string[] | undefined; offer: AssigneeOffer },
  actorOf: ActorOf,
): Promise<NameChoice[]> {
  const among = whoHolds(ctx, { typeId: offer.type.id, ...offer });
  const found: NameChoice[] = [];
  let after: PeopleRange['after'];
  for (let step = 0; step < MAX_STEPS; step++) {
    const next = await searchUsers(ctx, text, STEP, { ids, among, after });
    for (const one of next) {
      const user = await actorOf(one.id);
      if (user === undefined || !offer.admits(user)) continue;
      found.push(one);
      if (found.length === MAX_CHOICES) return found;
    }
    if (next.length < STEP) break;
    after = next.at(-1);
  }
  return found;
}

/** Who can be chosen in the field; undefined for anyone. A field that the caller may not name is like an unknown one. */
async function offerAt(ctx: ReadContext, { objectId, typeId, field }: FieldOwner): Promise<AssigneeOffer | undefined> {
  if (objectId !== undefined) {
    const object = await requireVisible(ctx, objectId);
    return field !== undefined && canName(object.right, field) ? assigneeOffer(ctx, object, field) : undefined;
  }
  if (typeId === undefined) return undefined;
  const type = findType(registry(ctx), typeId);
  if (type === undefined || !(ctx.actor.mayEver(type.id, 'read') || ctx.actor.mayEver(type.id, 'create'))) {
    throw faultAt('INVALID_REQUEST', 'query.typeId', 'NO_TYPE');
  }
  const mayName = field !== undefined && canName(ctx.actor.fieldAccess(type.id), field);
  return mayName ? assigneeOffer(ctx, { type, version: type.newest }, field) : undefined;
}

interface Choice {
  id: string;
  name: string;
  login?: string;
  email?: string | null;
  unit?: string;
}

/** Login and e-mail distinguish users with the same name; for other users they need `user.administer`. */
function choiceOf(ctx: ReadContext, { id, name, login, email, unit, alike }: NameChoice, units: boolean): Choice {
  const choice: Choice = { id, name: named(ctx, name) };
  if (login !== undefined && (alike === true || ctx.actor.has('user.administer'))) {
    choice.login = login;
    choice.email = email ?? null;
  }
  if (units && unit !== undefined && unit !== null) choice.unit = named(ctx, unit);
  return choice;
}
