/**
 * Plan notes on transitions whose condition uses a field that a role cannot read. Transitions are listed depending on their
 * conditions, so a user with the role can infer something about the hidden value. This is allowed; the plan reports it.
 */
import { canonicalJson } from '../lib/json.ts';
import { type PlanNote, planNote } from '../lib/problem.ts';
import type { Yielder } from '../lib/yielding.ts';
import { conditionNames } from './field-places.ts';
import type { Change, ConfigView } from './section.ts';
import type { RecordAction } from '../contract/rights.ts';

type Names = readonly string[] | '*';

interface Grant {
  type: string;
  where?: unknown;
  actions: readonly RecordAction[];
  fields: { read: Names };
  transitions: Names;
}

interface Role {
  records: readonly Grant[];
}

interface Workflow {
  transitions: readonly { code: string; condition?: unknown }[];
}

interface RecordTypeShape {
  code: string;
  workflow?: string;
  title?: string;
  fields: readonly { code: string }[];
}

/** A grant with the conditions that are true for every record that it applies to. */
interface CompiledGrant extends Grant {
  /** The row condition as canonical JSON; empty if there is none. */
  key: string;
  implied: ReadonlySet<string>;
}

/** Maximum number of cases listed for one item; the others are counted. */
const MAX_NAMED = 10;

/** The items of a section that a change affects: only the changed item if it belongs to that section. */
function concerned<Definition>(view: ConfigView, section: string, change: Change): [string, Definition][] {
  if (change.section === section) return [[change.code, change.definition as Definition]];
  const active = view.active<Definition>(section);
  // Records of archived types and workflows can still be read and transitioned. Archived roles grant nothing.
  return section === 'roles' ? [...active] : [...active, ...view.archived<Definition>(section)];
}

/** Codes of the type's workflows. Records of older type versions keep the workflow of their version. */
function workflowCodes(view: ConfigView, type: RecordTypeShape): Set<string> {
  const shapes = [type, ...view.versions('types', type.code).map(({ compiled }) => compiled as RecordTypeShape)];
  return new Set(shapes.flatMap(({ workflow }) => workflow ?? []));
}

/** Field → codes of the transitions whose conditions use it, in any of the type's workflows. */
function transitionsByField(
  type: RecordTypeShape,
  codes: Iterable<string>,
  workflows: ReadonlyMap<string, Workflow>,
): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  const own = new Set(type.fields.map(({ code }) => code));
  for (const { code, condition } of [...codes].flatMap((one) => workflows.get(one)?.transitions ?? [])) {
    for (const name of conditionNames(condition)) {
      // The system field `title` stands for the type's title field.
      const field = own.has(name) ? name : name === 'title' ? type.title : undefined;
      if (field !== undefined) found.set(field, (found.get(field) ?? new Set()).add(code));
    }
  }
  return found;
}

/** The condition and the parts that it implies, as canonical JSON. */
function* impliedBy(where: unknown): Generator<string> {
  yield canonicalJson(where);
  const { logic, conditions } = where as { logic?: unknown; conditions?: unknown[] };
  if (logic === 'AND') for (const part of conditions ?? []) yield* impliedBy(part);
}

/** The grants of a role; none if it allows no transitions. */
async function compiledGrants({ records }: Role, yielder: Yielder): Promise<CompiledGrant[]> {
  const grants: CompiledGrant[] = [];
  if (!records.some(({ actions }) => actions.includes('transition'))) return grants;
  for (const grant of records) {
    await yielder.next();
    const { where } = grant;
    const key = where === undefined ? '' : canonicalJson(where);
    grants.push({ ...grant, key, implied: new Set(['', ...(where === undefined ? [] : impliedBy(where))]) });
  }
  return grants;
}

const includes = (names: Names, code: string): boolean => names === '*' || names.includes(code);

/**
 * The transitions that the grants allow on records whose field none of the grants makes readable. A grant whose row condition
 * implies that of a grant that reads the field is ignored.
 */
function allowedWithoutReading(
  grants: readonly CompiledGrant[],
  field: string,
  transitions: Iterable<string>,
): string[] {
  const reading = new Set(grants.flatMap(({ key, fields }) => (includes(fields.read, field) ? [key] : [])));
  const blind = grants.filter(({ implied }) => implied.isDisjointFrom(reading));
  if (!blind.some(({ actions }) => actions.includes('transition'))) return [];
  const lists = blind.map((grant) => grant.transitions);
  if (lists.includes('*')) return [...transitions];
  const allowed = new Set(lists.flat());
  return [...transitions].filter((code) => allowed.has(code));
}

/**
 * The notes on a created or changed role, type or workflow. Each role is evaluated
 * separately; a user with several roles may read more.
 */
export async function hiddenConditionNotes(change: Change, view: ConfigView, yielder: Yielder): Promise<PlanNote[]> {
  if (change.action === 'archive') return [];
  const workflows = new Map(concerned<Workflow>(view, 'workflows', change));
  const roles = concerned<Role>(view, 'roles', change);
  const byRole = new Map<string, CompiledGrant[]>();
  const named: PlanNote[] = [];
  let unnamed = 0;
  for (const [typeCode, type] of concerned<RecordTypeShape>(view, 'types', change)) {
    await yielder.next();
    const used = transitionsByField(type, workflowCodes(view, type), workflows);
    for (const [role, definition] of used.size === 0 ? [] : roles) {
      await yielder.next();
      const all = byRole.get(role) ?? (await compiledGrants(definition, yielder));
      byRole.set(role, all);
      const grants = all.filter((grant) => grant.type === '*' || grant.type === typeCode);
      for (const [field, transitions] of grants.length === 0 ? [] : used) {
        await yielder.next();
        const never = !grants.some(({ fields }) => includes(fields.read, field));
        const found = allowedWithoutReading(grants, field, transitions);
        const free = Math.max(0, MAX_NAMED - named.length);
        const reason = never ? 'HIDDEN_CONDITION' : 'PARTLY_HIDDEN_CONDITION';
        for (const transition of found.slice(0, free)) {
          named.push(planNote(reason, { role, type: typeCode, transition, field }));
        }
        unnamed += Math.max(0, found.length - free);
      }
    }
  }
  if (unnamed > 0) named.push(planNote('MORE_HIDDEN_CONDITIONS', { count: unnamed }));
  return named;
}
