/**
 * A group of rows in one unit of work: what they need is loaded at once, each row is an attempt of its own, and everything is
 * written by one statement. A row that fails takes what it planned with it and undoes no other.
 */
import { type FaultDetail, isFault } from '../../lib/fault.ts';
import { canonicalUuid } from '../../lib/filter-values.ts';
import { fold } from '../../lib/text.ts';
import { Turns } from '../../lib/turns.ts';
import type { ReadContext, WriteContext } from '../../mechanisms/context.ts';
import { externalIdOf, type SourceRow } from './content.ts';
import type { ImportDefinition, TargetKind } from './definition.ts';
import type { KnownDefinition } from './definitions.ts';
import { type MappedRow, mapRows } from './lookups.ts';
import { faultErrors } from './rules.ts';
import { findLinks, insertLink, type RowStatus } from './store.ts';
import type { Standing, Target, Values, Written } from './target.ts';
import { targetOf } from './targets.ts';

/** A row with the name that its source gives it. */
export interface Candidate extends SourceRow {
  /** Undefined where the row does not say, null where it cannot be a name. */
  externalId: string | null | undefined;
}

export function candidateOf(row: SourceRow, definition: ImportDefinition): Candidate {
  return { ...row, externalId: externalIdOf(row, definition) };
}

/** What became of a row. */
export interface Outcome {
  row: number;
  externalId: string | null;
  status: RowStatus;
  id: string | null;
  revision: number | null;
  errors: FaultDetail[];
  before?: Values;
  /** For previews: what the caller may read of the fields that are mapped. */
  stood: Values | null;
  stands: Values | null;
}

/** What a row leads to: by its link, or by an id of our own that the importer may read. */
interface About {
  id: string | null;
}

export interface Done {
  outcomes: Outcome[];
}

function outcome(candidate: Candidate, status: RowStatus, more: Partial<Outcome> = {}): Outcome {
  return {
    row: candidate.row,
    externalId: candidate.externalId ?? null,
    status,
    id: null,
    revision: null,
    errors: [],
    stood: null,
    stands: null,
    ...more,
  };
}

/** @param id of what the row is about, where it leads to something */
export function failure(candidate: Candidate, errors: FaultDetail[], id: string | null = null): Outcome {
  return outcome(candidate, 'FAILED', { errors, id });
}

/** Which look-ups of a mapping ask for what the import itself makes. */
const OWN_LOOKUP: ReadonlyMap<TargetKind, string> = new Map([
  ['object', 'object'],
  ['user', 'user'],
  ['group', 'group'],
  ['organization', 'org-unit'],
]);

/** Whether the look-up asks for things of the kind that the import makes. */
export function looksUpItself(definition: ImportDefinition, lookup: { kind: string; type: string }): boolean {
  if (OWN_LOOKUP.get(definition.targetKind) !== lookup.kind) return false;
  return lookup.kind !== 'object' || lookup.type === definition.targetType;
}

/** What rows of this unit made or changed: not to be found in the database before the unit is written. */
class Unwritten {
  readonly #ids = new Set<string>();
  readonly #texts = new Set<string>();
  #sure = true;

  add(written: Written, values: Values): void {
    this.#ids.add(written.id);
    for (const value of Object.values(values).flat()) {
      if (typeof value === 'string') this.#texts.add(fold(value.trim()));
      // A number may be written in several ways.
      else if (value !== null) this.#sure = false;
    }
  }

  /** Whether the answer to a look-up may be another once the unit is written. */
  touches({ lookup, answer }: MappedRow['asked'][number]): boolean {
    if (this.#ids.size === 0) return false;
    if (!this.#sure || answer === 'many' || this.#texts.has(fold(lookup.text))) return true;
    return answer !== 'none' && this.#ids.has(answer.id);
  }
}

/**
 * Imports rows that have different external ids. It stops before a row that looks up what an earlier one of the same unit
 * made: that row, and those behind it, are for the next unit.
 *
 * @returns what became of the rows, from the first on
 */
export async function importRows(
  ctx: WriteContext,
  known: KnownDefinition,
  candidates: readonly Candidate[],
): Promise<Done> {
  const { definition, mapping } = known;
  const target = targetOf(ctx, definition);
  const links = await loadLinks(ctx, definition, target, candidates);
  const mapped = await mapRows(ctx, mapping, candidates);
  const dependent = mapping.lookups.some((lookup) => looksUpItself(definition, lookup));
  const unwritten = dependent ? new Unwritten() : undefined;
  const outcomes: Outcome[] = [];
  const turns = new Turns();
  for (const [index, candidate] of candidates.entries()) {
    await turns.next();
    const row = mapped[index] as MappedRow;
    const own = row.asked.filter(({ lookup }) => looksUpItself(definition, lookup));
    if (unwritten !== undefined && own.some((asked) => unwritten.touches(asked))) break;
    const about: About = { id: links.get(candidate.externalId ?? '') ?? null };
    try {
      outcomes.push(
        await ctx.attempt(async () => {
          ctx.actor.require('import.execute');
          return await importRow(ctx, definition, target, about, candidate, row, unwritten);
        }),
      );
    } catch (error) {
      if (!isFault(error)) throw error;
      outcomes.push(failure(candidate, faultErrors(error), about.id));
    }
  }
  return { outcomes };
}

/** External id → id of what it leads to; everything that rows may lead to is loaded. */
async function loadLinks(
  ctx: ReadContext,
  definition: ImportDefinition,
  target: Target,
  candidates: readonly Candidate[],
): Promise<Map<string, string>> {
  const externalIds = candidates.flatMap(({ externalId }) => externalId ?? []);
  const links = await findLinks(ctx, definition.sourceCode, definition.targetKind, externalIds);
  const own = externalIds.flatMap((externalId) => (links.has(externalId) ? [] : (canonicalUuid(externalId) ?? [])));
  await target.preload(ctx, [...new Set([...links.values(), ...own])]);
  return links;
}

async function importRow(
  ctx: WriteContext,
  definition: ImportDefinition,
  target: Target,
  about: About,
  candidate: Candidate,
  mapped: MappedRow,
  unwritten: Unwritten | undefined,
): Promise<Outcome> {
  const { externalId } = candidate;
  if (typeof externalId !== 'string') return failure(candidate, [noExternalId(definition, externalId)]);
  const standing = await standingOf(ctx, target, about.id, externalId);
  about.id = standing?.id ?? null;
  const skips = standing === undefined ? definition.mode === 'UPDATE_ONLY' : definition.mode === 'CREATE_ONLY';
  if (skips) {
    const values = standing?.values ?? null;
    return outcome(candidate, 'SKIPPED', { id: standing?.id ?? null, stood: values, stands: values });
  }
  if (mapped.problems.length > 0) return failure(candidate, mapped.problems, about.id);
  const written =
    standing === undefined
      ? await target.create(ctx, mapped.values)
      : await target.update(ctx, standing, mapped.values);
  if (written.changed) unwritten?.add(written, mapped.values);
  if (standing === undefined) {
    ctx.plan(insertLink, {
      source_code: definition.sourceCode,
      target_kind: definition.targetKind,
      external_id: externalId,
      target_id: written.id,
      at: ctx.now,
    });
  }
  return outcome(candidate, standing === undefined ? 'CREATED' : written.changed ? 'UPDATED' : 'SKIPPED', {
    id: written.id,
    revision: written.revision,
    ...(written.before === undefined ? {} : { before: written.before }),
    stood: standing?.values ?? null,
    stands: written.after,
  });
}

/** Undefined where the row is about something new. An id of our own names the thing itself, as in an export of ours. */
async function standingOf(
  ctx: ReadContext,
  target: Target,
  linked: string | null,
  externalId: string,
): Promise<Standing | undefined> {
  if (linked !== null) return await target.require(ctx, linked);
  const id = canonicalUuid(externalId);
  return id === undefined ? undefined : await target.own(ctx, id);
}

function noExternalId({ resolver }: ImportDefinition, externalId: null | undefined): FaultDetail {
  const column = JSON.stringify(resolver.externalIdField);
  return externalId === null
    ? { path: '/externalId', code: 'INVALID_FORMAT', message: `${column} must be a text of at most 255 characters.` }
    : { path: '/externalId', code: 'REQUIRED', message: `${column} holds no external id.` };
}
