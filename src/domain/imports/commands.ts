/**
 * Commands: create a definition, import or preview content of a request, import a file
 * (docs/spec/import-export-bulk.md#import-definitions, docs/spec/import-export-bulk.md#import-runs,
 * docs/spec/configuration.md#command-line).
 */
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Static } from 'typebox';
import { Fault, type FaultDetail, isFault } from '../../lib/fault.ts';
import { canonicalJson, pointer } from '../../lib/json.ts';
import type { Runner } from '../../platform/unit-of-work/binding.ts';
import { canName } from '../../contract/rights.ts';
import type { WriteContext, Caller } from '../../platform/unit-of-work/context.ts';
import { findType, type RecordType, registry } from '../metadata/index.ts';
import { checkContent, type Content, contentOf, readRows } from './content.ts';
import type * as contract from './contract.ts';
import { definitionAnswer, hiddenRow, visibleTargets, readRun, type RunAnswer } from './queries.ts';
import { type ImportDefinition, type KnownDefinition, requireDefinition } from './registry.ts';
import { type Candidate, candidateOf, failure, importRows, type Outcome } from './rows.ts';
import { faultErrors, nextGroup } from './rules.ts';
import { type ImportParts, type Progress, runImport } from './run.ts';
import { findUnfinished, type RowStatus } from './store.ts';
import type { Values } from './targets.ts';
import { type Problem, problem, problemAt } from '../../lib/problem.ts';
import { lookedUpField } from '../../lib/transforms.ts';

// ---------------------------------------------------------------- definitions

/** Adds an item to a section of the configuration like `apply` of a bundle; injected by `app.ts`. */
export type AddItem = (ctx: WriteContext, item: unknown) => Promise<{ id: string; definition: unknown }>;

type DefinitionBody = Static<(typeof contract.createDefinition)['body']>;

/**
 * Creates an import definition. Types and fields that the caller may neither read nor write count as missing.
 *
 * @throws Fault RIGHT_MISSING, INVALID_REQUEST, ALREADY_EXISTS
 */
export async function createDefinition(
  ctx: WriteContext,
  body: DefinitionBody,
  add: AddItem,
): Promise<ReturnType<typeof definitionAnswer>> {
  ctx.actor.require('import.manage');
  ctx.markAuthorized();
  const { targetTypeId, ...item } = body;
  const type = targetTypeId === undefined ? undefined : findType(registry(ctx), targetTypeId);
  const problems = unknownNames(ctx, body, type);
  const [first] = problems;
  if (first !== undefined) throw new Fault('INVALID_REQUEST', first, problems);
  const typed = type === undefined ? item : { ...item, targetType: type.code };
  const added = await add(ctx, typed).catch((error: unknown) => {
    throw withApiPaths(error);
  });
  return definitionAnswer(ctx, added.id, added.definition as ImportDefinition);
}

function mayUseType(ctx: WriteContext, type: RecordType | undefined): type is RecordType {
  const { actor } = ctx;
  if (type?.active !== true) return false;
  return (['read', 'create', 'update'] as const).some((action) => actor.mayEver(type.id, action));
}

/** Errors for unknown names. Hidden names give the same messages as missing ones. */
function unknownNames(ctx: WriteContext, body: DefinitionBody, type: RecordType | undefined): FaultDetail[] {
  const { targetKind, targetTypeId, mapping } = body;
  if (targetTypeId !== undefined && !mayUseType(ctx, type)) {
    return [problemAt('/targetTypeId', 'NO_TYPE')];
  }
  const problems: FaultDetail[] = [];
  for (const [index, { target, transform = [] }] of mapping.entries()) {
    if (targetKind === 'object' && type !== undefined && !namesField(ctx, type, target)) {
      problems.push(
        problemAt(pointer('mapping', index, 'target'), 'TYPE_HAS_NO_FIELD', { type: type.code, field: target }),
      );
    }
    for (const [at, step] of [transform].flat().entries()) {
      const found = unknownLookup(ctx, step);
      if (found !== undefined) problems.push({ path: pointer('mapping', index, 'transform', at), ...found });
    }
  }
  return problems;
}

function namesField({ actor }: WriteContext, type: RecordType, code: string): boolean {
  return type.newest.fields.has(code) && canName(actor.fieldAccess(type.id), code);
}

function unknownLookup(ctx: WriteContext, step: string): Problem | undefined {
  const named = lookedUpField(step);
  if (named === undefined) return undefined;
  const type = registry(ctx).byCode.get(named.type);
  if (!mayUseType(ctx, type)) return problem('TRANSFORM_TYPE', { code: named.type });
  return namesField(ctx, type, named.field) ? undefined : problem('TRANSFORM_FIELD', named);
}

/** The bundle has another name for the property of the type: translate its path. */
function withApiPaths(error: unknown): unknown {
  if (!(error instanceof Fault) || !Array.isArray(error.details)) return error;
  const details = error.details.map((detail) =>
    detail.path === '/targetType' ? { ...detail, path: '/targetTypeId' } : detail,
  );
  return new Fault(error.code, error, details);
}

// ---------------------------------------------------------------- content of a request

interface RunInput {
  definitionId: string;
  content: string;
  dryRun: boolean;
}

/**
 * Imports the rows of the content.
 *
 * @throws Fault RIGHT_MISSING, NOT_FOUND, INVALID_REQUEST for malformed content, with nothing written
 */
export async function runContent(runner: Runner, input: RunInput, parts: ImportParts): Promise<RunAnswer> {
  const { work, caller } = runner;
  caller.actor.require('import.execute');
  const known = requireDefinition(caller, input.definitionId);
  const { dryRun } = input;
  const runId = await runImport({ work, caller, parts, known, content: contentOf(input.content), dryRun });
  // The run may have taken minutes: answer with the rights that the caller has now.
  const fresh = await parts.freshCaller(caller);
  return await work.read(fresh, (ctx) => readRun(ctx, runId));
}

const DEFAULT_LIMIT = 100;
/** Rows are imported one by one, so that each row is shown on the state after the rows before it. */
const ONE = { rows: 1, size: Number.POSITIVE_INFINITY };

interface PreviewRow {
  row: number;
  externalId: string | null;
  status: RowStatus;
  id?: string;
  before: Values | null;
  after: Values | null;
  errors: FaultDetail[];
}

/**
 * Makes a dry run of the first rows. Returns the mapped fields before and after each row, as far as the caller may read them.
 *
 * @throws Fault RIGHT_MISSING, NOT_FOUND, INVALID_REQUEST for malformed content
 */
export async function previewContent(
  { work, caller: given }: Runner,
  input: { definitionId: string; content: string; limit?: number },
): Promise<{ rows: PreviewRow[]; total: number }> {
  given.actor.require('import.execute');
  const caller: Caller = { ...given, via: 'import' };
  const known = requireDefinition(caller, input.definitionId);
  const content = contentOf(input.content);
  const total = await checkContent(content, known.definition);
  const candidates: Candidate[] = [];
  for await (const row of readRows(content, known.definition)) {
    if (candidates.length === (input.limit ?? DEFAULT_LIMIT)) break;
    candidates.push(candidateOf(row, known.definition));
  }
  const outcomes = await work.dryRun(async (units) => {
    const shown: Outcome[] = [];
    let waiting = candidates;
    for (let next = nextGroup(waiting, ONE, false); next.group.length > 0; next = nextGroup(waiting, ONE, false)) {
      const [row] = next.group as [Candidate];
      try {
        const result = await units.write(caller, (ctx) => importRows(ctx, known, [row]));
        if (result.kind === 'done') shown.push(...result.data.outcomes);
      } catch (error) {
        if (!isFault(error) || error.code === 'DATABASE_UNAVAILABLE') throw error;
        shown.push(failure(row, faultErrors(error)));
      }
      waiting = next.rest;
    }
    const found = await units.write(caller, (ctx) =>
      visibleTargets(
        ctx,
        known.definition.targetKind,
        shown.map(({ id }) => id),
      ),
    );
    const visible = found.kind === 'done' ? found.data : new Set<string>();
    return shown.map((one) => (one.id === null || visible.has(one.id) ? one : hiddenRow(one)));
  });
  return { rows: outcomes.map(previewRow), total };
}

function previewRow({ row, externalId, status, id, valuesBefore, valuesAfter, errors }: Outcome): PreviewRow {
  return {
    row,
    externalId,
    status,
    ...(id === null || status === 'CREATED' || status === 'FAILED' ? {} : { id }),
    before: valuesBefore,
    after: status === 'FAILED' ? null : valuesAfter,
    errors,
  };
}

// ---------------------------------------------------------------- files

/** A run waits while the database does not answer. After this time without progress it ends and can be resumed later. */
const PATIENCE_MS = 120_000;
const PAUSE_MS = 1000;

interface FileImport {
  work: Runner['work'];
  caller: Caller;
  parts: ImportParts;
  /** Id or code of the definition. */
  definition: string;
  content: Content;
  file: { name: string; sha256: string };
  dryRun: boolean;
  /**
   * Takes a lock against concurrent imports of the same file; false if another process holds it. Called again after each
   * failure.
   */
  exclusive(name: string): Promise<boolean>;
  onProgress(progress: Progress): void;
}

/** The state that attempts of one import share. */
interface Known {
  definition: KnownDefinition;
  key: string;
  /** Id of the run that this import started or resumed. */
  runId?: string;
}

/**
 * @throws Fault NOT_FOUND (definition), RIGHT_MISSING, INVALID_REQUEST for malformed content, with nothing written;
 * DATABASE_UNAVAILABLE if the database did not answer for two minutes
 * @throws Error if another process imports the same file
 */
export async function importFile(input: FileImport): Promise<RunAnswer & { resumed: boolean }> {
  const { caller } = input;
  caller.actor.require('import.execute');
  const definition = requireDefinition(caller, input.definition);
  const said = `${input.file.sha256}\n${canonicalJson(definition.definition)}`;
  const known: Known = { definition, key: createHash('sha256').update(said).digest('hex') };
  let progressed = performance.now();
  let resumed: boolean | undefined;
  const onProgress = (progress: Progress): void => {
    progressed = performance.now();
    input.onProgress(progress);
  };
  for (;;) {
    try {
      const run = await attempt({ ...input, onProgress }, known, (before) => {
        resumed ??= before;
      });
      return { ...run, resumed: resumed === true };
    } catch (error) {
      const passing = isFault(error) && error.code === 'DATABASE_UNAVAILABLE' && !input.dryRun;
      if (!passing || performance.now() - progressed > PATIENCE_MS) throw error;
      await sleep(PAUSE_MS);
    }
  }
}

async function attempt(input: FileImport, known: Known, begun: (before: boolean) => void): Promise<RunAnswer> {
  const { work, caller, parts, content, dryRun, onProgress } = input;
  const { definition, key } = known;
  if (!dryRun && !(await input.exclusive(`import ${key}`))) {
    throw new Error('Another process is importing this file with this definition; wait until it has ended.');
  }
  const earlier = dryRun ? undefined : await work.read(caller, (ctx) => findUnfinished(ctx, definition.id, key));
  begun(earlier !== undefined);
  // If this run is no longer unfinished, it finished although its answer was lost.
  if (known.runId === undefined || earlier !== undefined) {
    known.runId = await runImport({
      work,
      caller,
      parts,
      known: definition,
      content,
      dryRun,
      file: { name: input.file.name, key },
      ...(earlier === undefined ? {} : { resume: earlier }),
      onBegun: (id) => {
        known.runId = id;
      },
      onProgress,
    });
  }
  const { runId } = known;
  return await work.read(caller, (ctx) => readRun(ctx, runId));
}
