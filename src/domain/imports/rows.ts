/**
 * Imports a group of rows in one transaction. What the rows need is loaded in batches. Each row is an attempt of its own, and
 * one statement writes everything. If a row fails, its planned writes are dropped and other rows are unaffected.
 */
import { type FaultDetail, isFault } from '../../lib/fault.ts';
import { canonicalUuid } from '../../lib/data-types/index.ts';
import { type Found, type Lookup, type Mapped, type Mapping, mapRow } from '../../lib/mapping.ts';
import { problemAt } from '../../lib/problem.ts';
import { fold } from '../../lib/text.ts';
import { Yielder } from '../../lib/yielding.ts';
import type { ReadContext, WriteContext } from '../../platform/unit-of-work/context.ts';
import { idsByName } from '../identity/index.ts';
import { findType, registry } from '../metadata/index.ts';
import { findByField } from '../objects/index.ts';
import { externalIdOf, type SourceRow } from './content.ts';
import type { ImportDefinition, KnownDefinition, TargetKind } from './registry.ts';
import { faultErrors } from './rules.ts';
import { findLinks, insertLink, type RowStatus } from './store.ts';
import { type Existing, type Target, targetOf, type Values, type Written } from './targets.ts';

/** A row with its external id. */
export interface Candidate extends SourceRow {
  /** Undefined if the row has none, null if the value is not a valid id. */
  externalId: string | null | undefined;
}

export function candidateOf(row: SourceRow, definition: ImportDefinition): Candidate {
  return { ...row, externalId: externalIdOf(row, definition) };
}

/** The result of a row. */
export interface Outcome {
  row: number;
  externalId: string | null;
  status: RowStatus;
  id: string | null;
  revision: number | null;
  errors: FaultDetail[];
  before?: Values;
  /** For previews: the mapped fields that the caller may read. */
  valuesBefore: Values | null;
  valuesAfter: Values | null;
}

/** The target of a row: found by its link, or by an id of this service that the caller may read. */
interface TargetRef {
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
    valuesBefore: null,
    valuesAfter: null,
    ...more,
  };
}

/** @param id of the row's target, if it has one */
export function failure(candidate: Candidate, errors: FaultDetail[], id: string | null = null): Outcome {
  return outcome(candidate, 'FAILED', { errors, id });
}

/** For each target kind, the kind of look-ups that can find the targets of this import. */
const OWN_LOOKUP: ReadonlyMap<TargetKind, string> = new Map([
  ['object', 'object'],
  ['user', 'user'],
  ['group', 'group'],
  ['organization', 'org-unit'],
]);

/** Whether the look-up can find targets of the import itself. */
export function looksUpItself(definition: ImportDefinition, lookup: { kind: string; type: string }): boolean {
  if (OWN_LOOKUP.get(definition.targetKind) !== lookup.kind) return false;
  return lookup.kind !== 'object' || lookup.type === definition.targetType;
}

/** Rows of this transaction that are planned but not written: look-ups do not find them yet. */
class Unwritten {
  readonly #ids = new Set<string>();
  readonly #texts = new Set<string>();
  #sure = true;

  add(written: Written, values: Values): void {
    this.#ids.add(written.id);
    for (const value of Object.values(values).flat()) {
      if (typeof value === 'string') this.#texts.add(fold(value.trim()));
      // The same number can be written in several ways.
      else if (value !== null) this.#sure = false;
    }
  }

  /** Whether the result of a look-up may differ once the transaction is written. */
  touches({ lookup, answer }: MappedRow['asked'][number]): boolean {
    if (this.#ids.size === 0) return false;
    if (!this.#sure || answer === 'many' || this.#texts.has(fold(lookup.text))) return true;
    return answer !== 'none' && this.#ids.has(answer.id);
  }
}

/**
 * Imports rows with different external ids. Stops before a row that looks up what an earlier row of the same transaction
 * created or changed: this row and the rows after it need the next transaction.
 *
 * @returns the results of the rows, from the first one on
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
  const yielder = new Yielder();
  for (const [index, candidate] of candidates.entries()) {
    await yielder.next();
    const row = mapped[index] as MappedRow;
    const own = row.asked.filter(({ lookup }) => looksUpItself(definition, lookup));
    if (unwritten !== undefined && own.some((asked) => unwritten.touches(asked))) break;
    const targetRef: TargetRef = { id: links.get(candidate.externalId ?? '') ?? null };
    try {
      outcomes.push(
        await ctx.attempt(async () => {
          ctx.actor.require('import.execute');
          return await importRow(ctx, definition, target, targetRef, candidate, row, unwritten);
        }),
      );
    } catch (error) {
      if (!isFault(error)) throw error;
      outcomes.push(failure(candidate, faultErrors(error), targetRef.id));
    }
  }
  return { outcomes };
}

/** External id → target id. Preloads all possible targets of the rows. */
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
  targetRef: TargetRef,
  candidate: Candidate,
  mapped: MappedRow,
  unwritten: Unwritten | undefined,
): Promise<Outcome> {
  const { externalId } = candidate;
  if (typeof externalId !== 'string') return failure(candidate, [noExternalId(definition, externalId)]);
  const existing = await findExisting(ctx, target, targetRef.id, externalId);
  targetRef.id = existing?.id ?? null;
  const skips = existing === undefined ? definition.mode === 'UPDATE_ONLY' : definition.mode === 'CREATE_ONLY';
  if (skips) {
    const values = existing?.values ?? null;
    return outcome(candidate, 'SKIPPED', { id: existing?.id ?? null, valuesBefore: values, valuesAfter: values });
  }
  if (mapped.problems.length > 0) return failure(candidate, mapped.problems, targetRef.id);
  const written =
    existing === undefined
      ? await target.create(ctx, mapped.values)
      : await target.update(ctx, existing, mapped.values);
  if (written.changed) unwritten?.add(written, mapped.values);
  if (existing === undefined) {
    ctx.plan(insertLink, {
      sourceCode: definition.sourceCode,
      targetKind: definition.targetKind,
      externalId,
      targetId: written.id,
      createdAt: ctx.now,
    });
  }
  return outcome(candidate, existing === undefined ? 'CREATED' : written.changed ? 'UPDATED' : 'SKIPPED', {
    id: written.id,
    revision: written.revision,
    ...(written.before === undefined ? {} : { before: written.before }),
    valuesBefore: existing?.values ?? null,
    valuesAfter: written.after,
  });
}

/** Returns undefined if the row is about a new target. An id of this service names the target itself, as in its exports. */
async function findExisting(
  ctx: ReadContext,
  target: Target,
  linked: string | null,
  externalId: string,
): Promise<Existing | undefined> {
  if (linked !== null) return await target.require(ctx, linked);
  const id = canonicalUuid(externalId);
  return id === undefined ? undefined : await target.own(ctx, id);
}

function noExternalId({ resolver }: ImportDefinition, externalId: null | undefined): FaultDetail {
  const column = resolver.externalIdField;
  return problemAt('/externalId', externalId === null ? 'EXTERNAL_ID_FORMAT' : 'EXTERNAL_ID_MISSING', { column });
}

// ---------------------------------------------------------------- look-ups

/** Maximum length of a chain in which one look-up needs the result of another. */
const MAX_ROUNDS = 20;

type Answer = { id: string } | 'none' | 'many';

interface MappedRow extends Mapped {
  /** The look-ups of the row with their results. */
  asked: { lookup: Lookup; answer: Answer }[];
}

function keyOf({ kind, type, field, text }: Lookup): string {
  return JSON.stringify([kind, type, field, text]);
}

async function answersOf(ctx: ReadContext, wanted: readonly Lookup[]): Promise<Map<string, Answer>> {
  const answers = new Map<string, Answer>();
  const groups = Map.groupBy(wanted, ({ kind, type, field }) => JSON.stringify([kind, type, field]));
  for (const lookups of groups.values()) {
    const [first] = lookups;
    if (first === undefined) continue;
    const texts = [...new Set(lookups.map(({ text }) => text))];
    const found = await idsOf(ctx, first, texts);
    for (const lookup of lookups) {
      const [id, ...more] = found.get(lookup.text) ?? [];
      answers.set(keyOf(lookup), id === undefined ? 'none' : more.length > 0 ? 'many' : { id });
    }
  }
  return answers;
}

async function idsOf(
  ctx: ReadContext,
  { kind, type, field }: Lookup,
  texts: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  if (kind !== 'object') return await idsByName(ctx, kind, texts);
  const known = findType(registry(ctx), type);
  return known === undefined ? new Map() : await findByField(ctx, known, field, texts);
}

/** Maps the rows to values, with all look-ups resolved. */
async function mapRows(ctx: ReadContext, mapping: Mapping, rows: readonly SourceRow[]): Promise<MappedRow[]> {
  const answers = new Map<string, Answer>();
  const mapped = new Map<SourceRow, MappedRow>();
  let waiting = [...rows];
  for (let round = 0; waiting.length > 0; round++) {
    if (round === MAX_ROUNDS) throw new Error('look-ups never come to an end');
    const wanted: Lookup[] = [];
    for (const row of waiting) {
      const asked: MappedRow['asked'] = [];
      const found: Found = (lookup) => {
        const answer = answers.get(keyOf(lookup));
        if (answer !== undefined) asked.push({ lookup, answer });
        return answer;
      };
      const result = mapRow(mapping, row.at, found);
      wanted.push(...result.wanted);
      mapped.set(row, { ...result, asked });
    }
    if (wanted.length === 0) break;
    for (const [key, answer] of await answersOf(ctx, wanted)) answers.set(key, answer);
    waiting = waiting.filter((row) => (mapped.get(row)?.wanted.length ?? 0) > 0);
  }
  return rows.map((row) => mapped.get(row) as MappedRow);
}
