/** The steps of an explanation, from the checks that a run recorded. Shows values only as far as the caller may read them. */
import type { Static } from 'typebox';
import { isArchived } from '../../contract/state.ts';
import {
  evaluate,
  leavesOf,
  type RecordFacts,
  type TypedCondition,
  type TypedLeaf,
  type Variables,
} from '../../lib/filter.ts';
import type { VariableOperand } from '../../lib/filter-types.ts';
import { isVariable, resolveOperand } from '../../lib/filter-variables.ts';
import { isId } from '../../lib/ids.ts';
import { FAULTS } from '../../lib/fault-codes.ts';
import { contractDetails } from '../../lib/fault.ts';
import { isObject } from '../../lib/json.ts';
import { loadItems } from '../../configuration/store.ts';
import type { DescribedRequest, FoundRequest } from '../../platform/unit-of-work/binding.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { registry, today } from '../metadata/index.ts';
import type { StepSchema } from './contract-explain.ts';
import { grantsOf, type RoleDefinition, roleView } from './roles.ts';
import { findCodes } from './store-impact.ts';
import type { UserRow } from './store.ts';
import type { Check, Outcome, CheckedRecord } from './trace.ts';

export type Step = Static<typeof StepSchema>;
type RecordStep = Extract<Step, { kind: 'record' }>;
type Conditions = RecordStep['grants'][number]['conditions'];

/** What decides about a transition apart from rights. */
export interface TransitionFacts {
  code: string;
  state: string | null;
  leaves: boolean;
  condition: TypedCondition | null;
  typeId: string;
  facts: RecordFacts;
}

interface Explained {
  request: FoundRequest;
  described: DescribedRequest;
  /** The run without any granted check, whose answer is explained. */
  first: Outcome;
  /** The run in which the missing checks were granted. */
  outcome: Outcome;
  /** Keys of the missing checks. */
  missing: ReadonlySet<string>;
}

/** Role code → definition of the roles that the user holds, by id. */
type Roles = ReadonlyMap<string, RoleDefinition>;

async function rolesOf(ctx: ReadContext, user: UserRow): Promise<Roles> {
  const compiled = ctx.config.get(roleView);
  const held = (await loadItems(ctx, 'roles')).filter(
    ({ id }) => user.roles.includes(id) && compiled.one(id) !== undefined,
  );
  return new Map(held.map(({ id, definition }) => [id, definition as RoleDefinition]));
}

/** What variables stand for: their values, and the login or code of each id. */
interface Standing {
  values: Variables;
  codes: ReadonlyMap<string, string>;
}

/** What the caller may see of the records of the explained request. */
class RequestVisibility {
  readonly #ctx: ReadContext;
  /** Path parameters, query and body of the request, to find the ids that it names. */
  readonly #text: string;

  constructor(ctx: ReadContext, { request, described: { query, body } }: Pick<Explained, 'request' | 'described'>) {
    this.#ctx = ctx;
    this.#text = JSON.stringify([request.params, query, body ?? null]).toLowerCase();
  }

  /** Whether the caller may know that the record took part: it is named, new, readable, or only a type. */
  knows(place: CheckedRecord): boolean {
    if (place.facts === null || place.record === 'new' || this.record(place)) return true;
    return this.#text.includes(place.facts.system.id);
  }

  record({ typeId, facts }: Pick<CheckedRecord, 'typeId' | 'facts'>): boolean {
    return facts !== null && this.#ctx.actor.on(typeId, facts, this.#ctx.now).can('read');
  }

  field(
    { typeId, facts }: Pick<CheckedRecord, 'typeId' | 'facts'>,
    { code, kind }: Pick<TypedLeaf['field'], 'code' | 'kind'>,
  ): boolean {
    if (facts === null) return true;
    const right = this.#ctx.actor.on(typeId, facts, this.#ctx.now);
    if (!right.can('read')) return false;
    const title = code === 'title' ? registry(this.#ctx).byId.get(typeId)?.newest.titleField : undefined;
    if (kind === 'system') return title === undefined || title === null || right.canRead(title);
    return right.canRead(code);
  }
}

/** As it is written in a condition. */
function variableText({ variable, shift = '' }: VariableOperand): string {
  return `$${variable}${shift === '' || shift.startsWith('-') ? shift : `+${shift}`}`;
}

function variablesIn(leaf: TypedLeaf): VariableOperand[] {
  const operands =
    leaf.operator === 'in' ? leaf.values : leaf.operator === 'range' ? [leaf.from, leaf.to] : [leaf.value];
  return operands.filter((operand): operand is VariableOperand => typeof operand === 'object' && isVariable(operand));
}

/** The values of variables that are shown of one comparison. */
const MAX_RECORD_VALUES = 100;

/** What the variables of a comparison stand for, or only their names. */
function variablesOf(
  leaf: TypedLeaf,
  { values: variables, codes }: Standing,
  hidden: boolean,
): Pick<Conditions[number], 'variables'> {
  const found = variablesIn(leaf).map((operand) => {
    const variable = variableText(operand);
    if (hidden) return { variable, values: null, more: 0 };
    const all = resolveOperand(operand, variables).map(String);
    const values = all.slice(0, MAX_RECORD_VALUES).map((value) => ({ value, code: codes.get(value) ?? null }));
    return { variable, values, more: all.length - values.length };
  });
  return found.length === 0 ? {} : { variables: found };
}

function operandOf(leaf: TypedLeaf): unknown {
  const text = (operand: unknown): unknown => {
    if (!isObject(operand)) return operand;
    return 'variable' in operand ? variableText(operand as unknown as VariableOperand) : operand['literal'];
  };
  if (leaf.operator === 'in') return leaf.values.map(text);
  if (leaf.operator === 'range') return [text(leaf.from), text(leaf.to)];
  return text(leaf.value);
}

function actualOf({ field }: TypedLeaf, facts: RecordFacts): unknown {
  const values: Readonly<Record<string, unknown>> =
    field.kind === 'system' ? { ...facts.system } : (facts.values as Record<string, unknown>);
  return Object.hasOwn(values, field.code) ? values[field.code] : null;
}

function conditionsOf(
  where: TypedCondition | null,
  place: Pick<CheckedRecord, 'typeId' | 'facts'>,
  standing: Standing,
  sight: RequestVisibility,
): Conditions {
  const { facts } = place;
  if (where === null || facts === null) return [];
  return [...leavesOf(where)].map((leaf) => {
    const hidden = !sight.field(place, leaf.field);
    const { operator } = leaf;
    const { code: field } = leaf.field;
    // A verdict tells a hidden value as well as the value itself.
    const used = variablesOf(leaf, standing, hidden);
    if (hidden) return { field, operator, value: null, ...used, actual: null, hidden, holds: null };
    const holds = evaluate(leaf, facts, standing.values);
    return { field, operator, value: operandOf(leaf), ...used, actual: actualOf(leaf, facts), hidden, holds };
  });
}

type PlacedCheck = Extract<Check, { place: CheckedRecord }>;

/**
 * Types on which the user has nothing say nothing, unless something is missing there. The rights on a record after the change
 * decide only what the answer shows.
 */
function isShown(group: readonly PlacedCheck[], all: readonly PlacedCheck[], missing: ReadonlySet<string>): boolean {
  if (group.some(({ key }) => missing.has(key))) return true;
  const facts = group[0]?.place.facts ?? null;
  if (facts === null) return group.some(({ held }) => held);
  const first = all.find(({ place }) => place.facts?.system.id === facts.system.id);
  return first?.place.facts?.system.revision === facts.system.revision;
}

/** One step for each record, or type, whose rights were checked. */
function recordSteps(
  ctx: ReadContext,
  checks: readonly Check[],
  {
    roles,
    standing,
    missing,
    sight,
  }: { roles: Roles; standing: Standing; missing: ReadonlySet<string>; sight: RequestVisibility },
): RecordStep[] {
  const placed = checks.flatMap((check): PlacedCheck[] => ('place' in check ? [check] : []));
  const groups = Map.groupBy(placed, ({ place }) => `${place.typeId} ${place.record}`);
  return [...groups.values()]
    .filter((group) => isShown(group, placed, missing))
    .flatMap((group) => {
      const { place: checked } = group[0] as PlacedCheck;
      const isKnown = sight.knows(checked);
      if (!isKnown && !group.some(({ key }) => missing.has(key))) return [];
      // What is missing on a record that the caller must not know of is shown for its type.
      const place = isKnown ? checked : { ...checked, facts: null };
      const type = registry(ctx).byId.get(place.typeId);
      const code = type?.code ?? place.typeId;
      const readable = sight.record(place);
      const canName = (field: string): boolean =>
        type?.newest.fields.has(field) !== true || ctx.actor.fieldAccess(place.typeId).canRead(field);
      const considered = [...roles].flatMap(([id, role]) =>
        grantsOf(ctx.config, { id, role, typeId: place.typeId, code }).map(({ grant, compiled }) => {
          const leaves = compiled.where === null ? [] : [...leavesOf(compiled.where)];
          const conditions = conditionsOf(compiled.where, place, standing, sight);
          const whereHidden =
            conditions.some(({ hidden }) => hidden) ||
            !leaves.every(({ field }) => field.kind === 'system' || canName(field.code));
          const holds =
            place.facts === null
              ? null
              : compiled.where === null || evaluate(compiled.where, place.facts, standing.values);
          return {
            compiled,
            shown: {
              role: role.code,
              where: whereHidden ? null : (grant.where ?? null),
              whereHidden,
              holds,
              conditions,
              actions: [...grant.actions],
            },
          };
        }),
      );
      const allowing = (gives: (compiled: (typeof considered)[number]['compiled']) => boolean): number[] =>
        considered.flatMap(({ compiled, shown }, index) => (shown.holds !== false && gives(compiled) ? [index] : []));
      const within = (names: ReadonlySet<string> | '*', name: string): boolean => names === '*' || names.has(name);
      const step: RecordStep = {
        kind: 'record',
        type: code,
        object:
          place.facts === null
            ? null
            : {
                id: place.record === 'new' ? null : place.facts.system.id,
                number: readable ? place.facts.system.number : null,
              },
        grants: considered.map(({ shown }) => shown),
        actions: [],
        fields: [],
        transitions: [],
      };
      for (const check of group) {
        const said = { held: check.held, missing: missing.has(check.key) };
        if (check.kind === 'action') {
          const { action } = check;
          step.actions.push({ action, ...said, grants: allowing(({ actions }) => actions.has(action)) });
        } else if (check.kind === 'field') {
          const { field, access } = check;
          step.fields.push({ field, access, ...said, grants: allowing((one) => within(one[access], field)) });
        } else if (check.kind === 'transition') {
          const { transition } = check;
          step.transitions.push({
            transition,
            ...said,
            grants: allowing((one) => within(one.transitions, transition)),
          });
        }
      }
      return step;
    });
}

/**
 * The checks apart from rights: state, revision and workflow of the record that the path names. Of a record that the caller may
 * not read they have no verdicts: repeated explanations would find out its values.
 */
async function otherSteps(
  ctx: ReadContext,
  { standing, sight }: { standing: Standing; sight: RequestVisibility },
  { request, described, outcome }: Explained,
  transitionOf: (ctx: ReadContext, objectId: string, transitionId: string) => Promise<TransitionFacts | undefined>,
): Promise<Step[]> {
  if (described.method === 'GET') return [];
  const code = outcome.fault?.code;
  const { objectId } = request.params;
  const place = [...outcome.checks.values()]
    .flatMap((check) => ('place' in check ? [check.place] : []))
    .find(({ facts }) => facts !== null && facts.system.id === objectId);
  const facts = place?.facts ?? null;
  const steps: Step[] = [];
  const readable = place !== undefined && sight.record(place);
  if (facts !== null) {
    const shown = readable ? { state: facts.system.state, passed: code !== 'ARCHIVED' } : { state: null, passed: null };
    steps.push({ kind: 'state', ...shown });
  }
  const body = isObject(described.body) ? described.body : {};
  const expected = body['expectedRevision'];
  if (typeof expected === 'number') {
    // Comments and other parts of a record have revisions of their own.
    const ofRecord = /\{objectId\}(?:\/transitions)?$/.test(request.operation.path);
    const current = readable && ofRecord && facts !== null ? facts.system.revision : null;
    const passed = readable ? code !== 'REVISION_CONFLICT' : null;
    steps.push({ kind: 'revision', expected, current, passed });
  }
  const { transitionId } = body;
  if (objectId === undefined || typeof transitionId !== 'string' || !isId(transitionId)) return steps;
  const transition = await transitionOf(ctx, objectId, transitionId);
  if (transition === undefined) return steps;
  const isReadable = sight.record(transition);
  const conditions = conditionsOf(transition.condition, transition, standing, sight);
  const starts = transition.leaves && (facts === null || !isArchived(facts.system));
  const holds = transition.condition === null || evaluate(transition.condition, transition.facts, standing.values);
  const isHidden = !isReadable || (starts && conditions.some(({ hidden }) => hidden));
  steps.push({
    kind: 'workflow',
    transition: transition.code,
    state: isReadable ? transition.state : null,
    leaves: isReadable ? transition.leaves : null,
    conditions,
    passed: isHidden ? null : starts && holds,
  });
  return steps;
}

/** The steps in the order of the decision: scopes, rights, records and their fields, everything else, then the error. */
export async function explainSteps(
  ctx: ReadContext,
  user: UserRow,
  explained: Explained,
  transitionOf: (ctx: ReadContext, objectId: string, transitionId: string) => Promise<TransitionFacts | undefined>,
): Promise<Step[]> {
  const { outcome, missing } = explained;
  const checks = [...outcome.checks.values()];
  const roles = await rolesOf(ctx, user);
  const { groups, orgUnit, orgUnits } = user;
  const sight = new RequestVisibility(ctx, explained);
  const values = { me: user.id, groups, orgUnit, orgUnits, now: ctx.now, today: today(registry(ctx), ctx.now) };
  const codes = await findCodes(ctx, [...groups, ...(orgUnit === null ? [] : [orgUnit]), ...orgUnits]);
  const standing: Standing = { values, codes: new Map([...codes, [user.id, user.login]]) };
  const giving = (right: string): string[] =>
    [...roles.values()].filter(({ rights }) => (rights as string[]).includes(right)).map(({ code }) => code);
  const rights = checks.flatMap((check): Step[] => {
    const said = { held: check.held, missing: missing.has(check.key) };
    if (check.kind === 'scope') return [{ kind: 'scope', scope: check.scope, ...said }];
    if (check.kind === 'right') {
      const { right } = check;
      return [{ kind: 'right', right, required: check.required || said.missing, roles: giving(right), ...said }];
    }
    // Only a missing one says something: lists leave out what cannot be read.
    if (check.kind !== 'records' || !said.missing) return [];
    return [{ kind: 'records', action: check.action, missing: true }];
  });
  return [
    ...rights,
    ...recordSteps(ctx, checks, { roles, standing, missing, sight }),
    ...(await otherSteps(ctx, { standing, sight }, explained, transitionOf)),
    ...refusalSteps(ctx, explained, sight),
  ];
}

/**
 * The error of the answer. Its text and details depend on the values of the records: where the caller may not read one of them,
 * the text is the general one of the code; details on hidden fields are left out.
 */
function refusalSteps(ctx: ReadContext, { first }: Explained, sight: RequestVisibility): Step[] {
  if (first.fault === undefined) return [];
  const { code, message, details } = first.fault;
  const stored = [...first.checks.values()].flatMap((check) =>
    'place' in check && check.place.facts !== null && check.place.record !== 'new' ? [check.place] : [],
  );
  const isHiddenOn = (place: CheckedRecord, field: string): boolean =>
    registry(ctx).byId.get(place.typeId)?.newest.fields.has(field) === true &&
    !sight.field(place, { code: field, kind: 'value' });
  if (!stored.every((place) => sight.record(place))) {
    return [{ kind: 'refusal', code, message: FAULTS[code].meaning, details: [] }];
  }
  const shown = (Array.isArray(details) ? contractDetails(details) : []).filter(
    ({ path }) => !path.split('.').some((part) => stored.some((place) => isHiddenOn(place, part))),
  );
  return [{ kind: 'refusal', code, message, details: shown }];
}
