/** Reads: the audit log, and the rights of a user (docs/spec/access.md#roles-and-rights). */
import type { Static } from 'typebox';
import { Fault } from '../../lib/fault.ts';
import { type Condition, evaluate, type RecordFacts, type Variables } from '../../lib/filter.ts';
import { loadItems } from '../../configuration/store.ts';
import type { Actor, ReadContext } from '../../platform/unit-of-work/context.ts';
import { named, type RecordType, registry, today } from '../metadata/index.ts';
import { readableTitle, requireVisible } from '../objects/index.ts';
import { actorFor } from './actor.ts';
import { RECORD_ACTIONS } from '../../contract/rights.ts';
import { grantsOf, type RecordGrant, type RoleDefinition, roleView } from './roles.ts';
import { loadHeld, loadUser } from './store.ts';
import { pageOf, windowOf } from '../../contract/paging.ts';
import { auditRows } from '../../platform/journal/journal.ts';
import type * as contract from './contract.ts';

/** A record, with its title if the caller may read it. */
interface Shown {
  type: RecordType;
  facts: RecordFacts;
  title: string | null;
}

/** The record, if the caller may read it. @throws Fault NOT_FOUND */
async function recordFor(ctx: ReadContext, id: string): Promise<Shown> {
  const object = await requireVisible(ctx, id);
  return { type: object.type, facts: object.facts, title: readableTitle(object) };
}

function fieldsOf(condition: Condition): string[] {
  return 'conditions' in condition ? condition.conditions.flatMap(fieldsOf) : [condition.field];
}

/** Whether the explanation may name the field: fields that the caller may read on no record are left out. */
function readableFields(ctx: ReadContext, type: RecordType | undefined) {
  return (code: string): boolean =>
    type?.newest.fields.has(code) !== true || ctx.actor.fieldAccess(type.id).canRead(code);
}

/** Whether the caller may read the field of this record. A condition with its verdict tells the values of its fields. */
function fieldsShown(ctx: ReadContext, { type, facts }: Shown) {
  const right = ctx.actor.on(type.id, facts, ctx.now);
  const { fields, titleField } = type.newest;
  return (code: string): boolean => {
    const field = code === 'title' && !fields.has(code) ? (titleField ?? code) : code;
    return !fields.has(field) || right.canRead(field);
  };
}

/** @param on the record that the grant was judged on, with the verdict */
function explainGrant(ctx: ReadContext, grant: RecordGrant, on: { record: Shown; holds: boolean } | null) {
  const canRead = readableFields(ctx, on?.record.type ?? registry(ctx).byCode.get(grant.type));
  const shown = (list: string[] | '*'): string[] | '*' => (list === '*' ? list : list.filter(canRead));
  const whereHidden =
    grant.where !== undefined && !fieldsOf(grant.where).every(on === null ? canRead : fieldsShown(ctx, on.record));
  return {
    type: grant.type,
    where: whereHidden ? null : (grant.where ?? null),
    whereHidden,
    holds: on?.holds ?? null,
    actions: grant.actions,
    read: shown(grant.fields.read),
    write: shown(grant.fields.write),
    transitions: grant.transitions,
  };
}

/**
 * Uses the same evaluation as the requests of that user. The caller must be able to read the record.
 *
 * @throws Fault RIGHT_MISSING, NOT_FOUND
 */
export async function explainAccess(ctx: ReadContext, query: { userId: string; objectId?: string }): Promise<unknown> {
  ctx.actor.require('role.assign');
  const record = query.objectId === undefined ? undefined : await recordFor(ctx, query.objectId);
  const user = await loadUser(ctx, query.userId);
  if (user === undefined) throw new Fault('NOT_FOUND', 'There is no such user.');
  const held = Map.groupBy(await loadHeld(ctx, user.id, user.groups), (row) => row.roleId);
  const compiled = ctx.config.get(roleView);
  const roles = (await loadItems(ctx, 'roles')).filter(({ id }) => held.has(id) && compiled.one(id) !== undefined);
  const { groups, orgUnit, orgUnits } = user;
  const day = today(registry(ctx), ctx.now);
  const variables: Variables = { me: user.id, groups, orgUnit, orgUnits, now: ctx.now, today: day };
  const grants = roles.flatMap(({ id, code, definition }) => {
    const own = (definition as RoleDefinition).records;
    if (record === undefined) return own.map((grant) => ({ role: code, ...explainGrant(ctx, grant, null) }));
    const { type, facts } = record;
    const role = definition as RoleDefinition;
    return grantsOf(ctx.config, { id, role, typeId: type.id, code: type.code }).map(
      ({ grant, compiled: { where } }) => {
        const holds = where === null || evaluate(where, facts, variables);
        return { role: code, ...explainGrant(ctx, grant, { record, holds }) };
      },
    );
  });
  return {
    user: { id: user.id, login: user.login, displayName: user.displayName, state: user.state },
    object: record === undefined ? null : identify(record),
    roles: roles.map(({ id, code, definition }) => ({
      id,
      code,
      name: named(ctx, (definition as RoleDefinition).name),
      rights: (definition as RoleDefinition).rights,
      held: (held.get(id) ?? []).map((row) => ({ kind: row.kind, id: row.id, code: row.code })),
    })),
    grants,
    result: record === undefined ? null : outcome(ctx, actorFor(user, ctx.config), record),
  };
}

function identify({ type, facts, title }: Shown) {
  const { id, number, state } = facts.system;
  return { id, number, title, typeCode: type.code, state };
}

function outcome(ctx: ReadContext, actor: Actor, { type, facts }: Shown) {
  const right = actor.on(type.id, facts, ctx.now);
  const codes = [...type.newest.fields.keys()].filter(readableFields(ctx, type));
  return {
    actions: RECORD_ACTIONS.filter((action) => right.can(action)),
    read: codes.filter((code) => right.canRead(code)),
    write: codes.filter((code) => right.canWrite(code)),
  };
}

/** @throws Fault RIGHT_MISSING */
export async function listAudit(
  ctx: ReadContext,
  query: Static<(typeof contract.readAudit)['query']>,
): Promise<unknown> {
  ctx.actor.require('audit.read');
  const window = windowOf(query);
  const rows = await auditRows(ctx, { ...query, limit: window.limit, offset: window.offset });
  const shown = rows.map(({ actorId, actorName, via, ...row }) => ({
    ...row,
    actor: { id: actorId, displayName: actorName ?? 'system', via },
    data: row.data ?? {},
  }));
  return pageOf(shown, window);
}
