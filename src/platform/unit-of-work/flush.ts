/**
 * The single statement with which units of work write everything that they planned (ADR 0001): one round trip and one commit for
 * record, journal and stored response. `statement.ts` builds and caches the parts.
 */
import sql, { empty, raw, type Sql } from 'sql-template-tag';
import type { Invalidated, PlainMembers, ReturnedValue, TableWrite } from './context.ts';
import type { Statement } from '../database/pool.ts';
import { type Claimed, claimParts, claimRow } from './idempotency.ts';
import { type StatementPart, required, Slot, type Statements, isGuard, writeGuard, writePart } from './statement.ts';
import { STRUCTURE_GUARD } from './transactions.ts';

export interface Planned {
  write: TableWrite<unknown>;
  rows: unknown[];
}

/** What one unit writes. */
export interface Flushed extends Invalidated {
  planned: readonly Planned[];
  claimed: Claimed | undefined;
  returned: { key: string; value: ReturnedValue } | undefined;
}

/** What the text of a unit's own statement depends on. */
function shapeOf({ planned, claimed }: Flushed): string {
  const writes = planned.map(({ write, rows }) => `${write.name} ${rows.length}`).join();
  return claimed === undefined ? writes : `${writes};claimed`;
}

function sameWrites(units: readonly Flushed[]): Planned[] {
  const planned = units[0]?.planned ?? [];
  return planned.map(({ write }, at) => ({ write, rows: units.flatMap((unit) => unit.planned[at]?.rows ?? []) }));
}

/**
 * The writes of units that plan different ones. The order of each unit is kept, because a write can only read what earlier ones
 * return. Writes that await the guards read all of them, so they come after those of the other units, too. The order does not
 * depend on that of the units, so that there are few texts.
 */
function mergedWrites(units: readonly Flushed[]): Planned[] {
  const merged: Planned[] = [];
  const sorted = units.map((unit) => ({ unit, shape: shapeOf(unit) })).sort((a, b) => (a.shape < b.shape ? -1 : 1));
  for (const { unit } of sorted) {
    const placeOf = ({ write }: Planned): number => merged.findIndex((other) => other.write.name === write.name);
    let place = 0;
    let isAfterGuards = false;
    for (const [at, planned] of unit.planned.entries()) {
      isAfterGuards ||= planned.write.guard === 'awaited';
      const found = placeOf(planned);
      if (found >= 0) {
        merged[found]?.rows.push(...planned.rows);
        place = found + 1;
        continue;
      }
      // Before the writes that this unit makes later; otherwise at the end.
      const isFollowed = unit.planned.slice(at + 1).some((later) => placeOf(later) >= 0);
      const end = isAfterGuards ? -1 : merged.findIndex(({ write }) => write.guard === 'awaited');
      if (!isFollowed) place = end < 0 ? merged.length : end;
      merged.splice(place++, 0, { write: planned.write, rows: [...planned.rows] });
    }
  }
  return merged;
}

/** Number of users in `cache_versions.recent_members`. A process that missed more drops all cached rights. */
const RECENT_MEMBERS = 64;

/**
 * The write of the versions that the units change. That of plain memberships changes no row if the structure version is another
 * one: it waits for the transactions that hold the row, and judges the row that they leave.
 */
function versionsWrite(statements: Statements, units: readonly Flushed[]): Filled | undefined {
  const { invalidated, plainMembers } = units[0] ?? {};
  if (invalidated === undefined || (invalidated.size === 0 && plainMembers === undefined)) return undefined;
  const config = invalidated.has('config') ? 1 : 0;
  const kind = `${invalidated.size > 0 ? `versions ${config}` : 'members'} ${plainMembers === undefined ? '' : 'guarded'}`;
  const build = (): Sql => {
    const ids = sql`${new Slot((source: PlainMembers) => source.userIds)}::uuid[]`;
    const change =
      invalidated.size > 0
        ? sql`config = config + ${raw(String(config))}, rights = rights + 1`
        : sql`rights = rights + cardinality(${ids}), memberships = memberships + cardinality(${ids}), recent_members =
          (recent_members || ${ids})[greatest(1, cardinality(recent_members || ${ids}) - ${raw(String(RECENT_MEMBERS - 1))}):]`;
    const structure = new Slot((source: PlainMembers) => source.structure);
    const unchanged =
      plainMembers === undefined ? empty : sql` WHERE rights - memberships = ${structure}::bigint RETURNING 1`;
    return sql`cache_versions_update AS (UPDATE cache_versions SET ${change}${unchanged})`;
  };
  const userIds = units.flatMap((unit) => unit.plainMembers?.userIds ?? []);
  return [statements.part(versionsWrite, kind, build), { userIds, structure: plainMembers?.structure }];
}

function structureGuard(): Sql {
  return required(STRUCTURE_GUARD, sql`EXISTS (SELECT FROM cache_versions_update)`);
}

/** A part and the source of its values. */
type Filled = readonly [StatementPart, unknown];

/**
 * Builds one CTE per write, in the order of planning, and one output row with the guards. A failed guard rolls back the whole
 * statement.
 *
 * @param units one or more units that fit each other (`groups.ts`)
 * @param lockMs how long the statement waits for a lock; if absent, as long as the server allows
 */
export function flushStatement(statements: Statements, units: readonly Flushed[], lockMs?: number): Statement {
  const [first] = units;
  if (first === undefined) throw new Error('there is no unit to write');
  const returned = units.find((unit) => unit.returned !== undefined)?.returned;
  const shape = units.length === 1 ? '' : shapeOf(first);
  const isMixed = units.some((unit) => unit !== first && shapeOf(unit) !== shape);
  const writes = isMixed ? mergedWrites(units) : sameWrites(units);
  const ctes: Filled[] = [];
  const outputs: Filled[] = [];
  // Outputs are computed in their order, and the writes with them.
  if (lockMs !== undefined) {
    const build = (): Sql => sql`set_config('lock_timeout', ${raw(`'${lockMs}'`)}, true)`;
    outputs.push([statements.part(flushStatement, `lock ${lockMs}`, build), null]);
  }
  const claims = units.flatMap((unit) => (unit.claimed === undefined ? [] : [claimRow(unit.claimed, unit.returned)]));
  const claim = claims.length === 0 ? undefined : claimParts(statements, returned?.value.write, claims, isMixed);
  if (claim !== undefined) outputs.push(...claim.guards.map((part): Filled => [part, claims]));
  const guarded = writes.flatMap(({ write }) => (isGuard(write) ? [write.name] : []));
  for (const { write, rows } of writes) {
    ctes.push([writePart(statements, write, rows, guarded, isMixed), rows]);
    if (isGuard(write)) outputs.push([writeGuard(statements, write), rows]);
  }
  if (claim !== undefined) ctes.push(...claim.ctes.map((part): Filled => [part, claims]));
  if (returned !== undefined) {
    const { write } = returned.value;
    const build = (): Sql => sql`(SELECT jsonb_object_agg(id, returned_value) FROM ${raw(write)}) AS returned`;
    outputs.push([statements.part(flushStatement, `returned ${write}`, build), null]);
  }
  // Comes last, to hold the lock on the row that all such units share as briefly as possible.
  const versions = versionsWrite(statements, units);
  if (versions !== undefined) ctes.push(versions);
  if (first.plainMembers !== undefined) outputs.push([statements.part(versionsWrite, 'guard', structureGuard), null]);
  const glue = (text: string): Filled => [statements.part(flushStatement, text, () => raw(text)), null];
  const all: Filled[] = [];
  for (const [index, cte] of ctes.entries()) all.push(glue(index === 0 ? 'WITH ' : ',\n'), cte);
  if (outputs.length === 0) all.push(glue(' SELECT 1'));
  for (const [index, output] of outputs.entries()) all.push(glue(index === 0 ? ' SELECT ' : ',\n'), output);
  return statements.whole(all);
}
