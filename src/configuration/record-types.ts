/** The parts of record types and workflows that other modules' sections need. */
import type { DataType } from '../lib/data-types/index.ts';
import { type Condition, conditionFor, type FieldResolver, type FilterField, resolverOf } from '../lib/filter.ts';
import { forType } from '../lib/problem.ts';
import { compileCondition, type Naming } from './conditions.ts';
import type { ConfigView, ItemPath, Report } from './section.ts';

export interface FieldShape {
  code: string;
  dataType: DataType;
  multiple: boolean;
  required: boolean;
  constraints: { options?: readonly { code: string }[]; types?: readonly string[] };
}

/** A definition of the section `types`, with the properties that other modules use. */
export interface TypeShape {
  code: string;
  category: 'object' | 'dictionary';
  workflow?: string;
  fields: readonly FieldShape[];
}

interface WorkflowShape {
  states: readonly { code: string }[];
  transitions: readonly { code: string }[];
}

export function fieldOf(type: TypeShape | undefined, code: string): FieldShape | undefined {
  return type?.fields.find((field) => field.code === code);
}

export function workflowOf(view: ConfigView, type: TypeShape): WorkflowShape | undefined {
  return type.workflow === undefined ? undefined : view.get<WorkflowShape>('workflows', type.workflow);
}

function asFilterField(field: FieldShape): FilterField {
  const { code, dataType, multiple, constraints } = field;
  const options =
    constraints.options === undefined ? {} : { options: new Set(constraints.options.map((one) => one.code)) };
  return { code, kind: 'value', dataType, multiple, ...options };
}

/** Resolves the type's fields and the system fields. `workflowState` only allows the states of the type's workflow. */
export function resolverFor(view: ConfigView, type: TypeShape): FieldResolver {
  const resolve = resolverOf(type.fields.map(asFilterField));
  const workflow = workflowOf(view, type);
  if (workflow === undefined) return resolve;
  const states = new Set(workflow.states.map((state) => state.code));
  return (code) => {
    const field = resolve(code);
    return field?.kind === 'system' && code === 'workflowState' ? { ...field, options: states } : field;
  };
}

interface TypedConditionOptions {
  /** The types are all there are: messages name the type, and states are not restricted to one workflow. */
  all?: boolean;
  /** Adds fields that records of the type do not have. */
  extend?: (resolve: FieldResolver, type: TypeShape) => FieldResolver;
}

/**
 * The compiled form of a condition on records of all the given types. It must be valid for each of them, apart from the parts
 * that it limits to other types (`conditionFor`). Undefined if it has errors, which are reported for the first type only.
 */
export function compileTypedCondition(
  condition: Condition,
  path: ItemPath,
  types: readonly TypeShape[],
  naming: Naming & { view: ConfigView },
  { all = false, extend = (resolve) => resolve }: TypedConditionOptions = {},
): Condition | undefined {
  let compiled = condition;
  for (const type of types) {
    // A condition on all types is not restricted to the states of one workflow.
    const own = all ? resolverOf(type.fields.map(asFilterField)) : resolverFor(naming.view, type);
    const resolve = extend(own, type);
    const report: Report = (at, found) => naming.report(at, all ? forType(found, type.code) : found);
    const part = compileCondition(conditionFor(condition, type.code), path, resolve, { view: naming.view, report });
    if (part === undefined) return undefined;
    compiled = withPartsOf(compiled, part);
  }
  return compiled;
}

/** The condition with what is compiled for one type. The parts that do not concern that type stay. */
function withPartsOf(condition: Condition, own: Condition): Condition {
  if (!('conditions' in condition)) return own;
  if (!('conditions' in own)) return condition;
  const parts = condition.conditions.map((part, index) => withPartsOf(part, own.conditions[index] ?? part));
  return { ...condition, conditions: parts };
}

/**
 * The compiled form of a condition on records of any of the given types; it must be valid for at least one. For records whose
 * type lacks a field, the condition is false, as in searches. It is an error only if no type has the field.
 */
export function compileSharedCondition(
  condition: Condition,
  path: ItemPath,
  types: readonly TypeShape[],
  naming: Naming & { view: ConfigView },
): Condition | undefined {
  const resolvers = (types.length === 0 ? [[]] : types.map(({ fields }) => fields)).map((fields) =>
    resolverOf(fields.map(asFilterField)),
  );
  const known = firstThatKnows(resolvers);
  const refusals: Parameters<Report>[][] = [];
  for (const own of resolvers) {
    const said: Parameters<Report>[] = [];
    const report: Report = (...problem) => said.push(problem);
    const resolve: FieldResolver = (code) => own(code) ?? known(code);
    const compiled = compileCondition(condition, path, resolve, { view: naming.view, report });
    if (compiled !== undefined) return compiled;
    refusals.push(said);
  }
  for (const problem of refusals[0] ?? []) naming.report(...problem);
  return undefined;
}

/** Resolves a code with the first resolver that knows it. */
export function firstThatKnows(resolvers: Iterable<FieldResolver>): FieldResolver {
  return (code) => {
    for (const resolve of resolvers) {
      const field = resolve(code);
      if (field !== undefined) return field;
    }
    return undefined;
  };
}
