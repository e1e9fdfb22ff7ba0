/**
 * The bundle's sections `settings` and `types` (docs/spec/configuration.md#bundle): validates record types and decides when a
 * change makes a new version.
 */
import type { Static } from 'typebox';
import { unmetShape } from '../../contract/field-roles.ts';
import { DATA_TYPES, descriptorOf } from '../../lib/data-types/index.ts';
import { SYSTEM_FIELDS } from '../../lib/filter.ts';
import { type PlanNote, planNote, problem, problemAt } from '../../lib/problem.ts';
import { stepsOf } from '../../configuration/conditions.ts';
import { checkUnique } from '../../configuration/checks.ts';
import { defineSection } from '../../configuration/define.ts';
import { hiddenConditionNotes } from '../../configuration/hidden-conditions.ts';
import type {
  Change,
  GonePart,
  HeldCount,
  Comparison,
  CompileView,
  ConfigSection,
  Report,
  SectionReport,
} from '../../configuration/section.ts';
import { compileValue } from '../../configuration/values.ts';
import type { Localized } from '../../contract/schemas.ts';
import type { ReadContext, WriteContext } from '../../platform/unit-of-work/context.ts';
import type { FieldConstraints, FieldDefinition, FieldSearch, FormLayout, TypeDefinition } from './registry.ts';
import { incompatibilities } from './value-compatibility.ts';
import { type FieldItem, type LayoutItem, TypeItem } from './types-schema.ts';
import { checkConstraints } from './value-constraints.ts';
import { checkValue } from './values.ts';

function normaliseSearch(item: FieldItem): FieldSearch {
  const { text, filter, facet } = item.search ?? {};
  const { searched = false } = descriptorOf(item.dataType);
  return { text: text ?? searched, filter: filter ?? false, facet: facet ?? false };
}

function normaliseConstraints(constraints: FieldItem['constraints']): FieldConstraints {
  if (constraints === undefined) return {};
  const { options, ...rest } = constraints;
  if (options === undefined) return rest as FieldConstraints;
  const named = options.map(({ code, name }) => ({ code, name: (name as Localized | undefined) ?? code }));
  return { ...(rest as FieldConstraints), options: named };
}

function normaliseField(item: FieldItem): FieldDefinition {
  return {
    code: item.code,
    name: (item.name as Localized | undefined) ?? item.code,
    ...(item.description === undefined ? {} : { description: item.description as Localized }),
    dataType: item.dataType,
    required: item.required ?? false,
    readOnly: item.readOnly ?? false,
    multiple: item.multiple ?? false,
    ...(item.role === undefined ? {} : { role: item.role }),
    constraints: normaliseConstraints(item.constraints),
    ...(item.default === undefined || item.default === null ? {} : { default: item.default }),
    search: normaliseSearch(item),
  };
}

function normaliseLayout(layout: Static<typeof LayoutItem>): FormLayout {
  return {
    sections: layout.sections.map(({ name, columns, fields }) => ({
      ...(name === undefined ? {} : { name: name as Localized }),
      columns: columns ?? 1,
      fields,
    })),
  };
}

/** A type with all defaults filled in. If `title` is absent, a field with the code `title` becomes the title field. Null means that the type has none. */
function normaliseType(item: TypeItem): TypeDefinition {
  const fields = (item.fields ?? []).map(normaliseField);
  const title = item.title === undefined ? fields.find((field) => field.code === 'title')?.code : item.title;
  return {
    code: item.code,
    name: (item.name as Localized | undefined) ?? item.code,
    ...(item.plural === undefined ? {} : { plural: item.plural as Localized }),
    ...(item.description === undefined ? {} : { description: item.description as Localized }),
    category: item.category ?? 'object',
    ...(item.numbering === undefined
      ? {}
      : { numbering: { prefix: item.numbering.prefix, digits: item.numbering.digits ?? 7 } }),
    ...(title === undefined || title === null ? {} : { title }),
    ...(item.workflow === undefined || item.workflow === null ? {} : { workflow: item.workflow }),
    ...(item.assignable === undefined ? {} : { assignable: item.assignable }),
    fields,
    ...(item.layout === undefined || item.layout === null ? {} : { layout: normaliseLayout(item.layout) }),
  };
}

/** Queries on stored records. The objects module implements them. */
export interface RecordProbe {
  /** Keeps out other writers of records until the transaction ends. */
  lockRecords(ctx: WriteContext): Promise<void>;
  /** The numbers of records that have a value under the stored code of each field; with an option, this one or a list with it. */
  countHolding(
    ctx: ReadContext,
    typeId: string,
    parts: readonly Pick<GonePart, 'codes' | 'stored'>[],
  ): Promise<HeldCount[]>;
  /** Whether a record in one of these versions of the type has a value under the field's code. */
  holdsValue(ctx: ReadContext, typeId: string, versions: readonly number[], fieldCode: string): Promise<boolean>;
}

/** Data types allowed for the title field. */
const TITLE_TYPES = DATA_TYPES.filter((dataType) => descriptorOf(dataType).title === true);

function compileField(field: FieldDefinition, index: number, view: CompileView, report: Report): FieldDefinition {
  const path = ['fields', index];
  if (field.code !== 'title' && SYSTEM_FIELDS.has(field.code)) {
    report([...path, 'code'], problem('RESERVED_FIELD', { code: field.code }));
  }
  const shape = field.role === undefined ? undefined : unmetShape(field.role, field);
  if (shape !== undefined) {
    const reason =
      shape.multiple === true ? 'ROLE_NEEDS_SEVERAL' : shape.multiple === false ? 'ROLE_NEEDS_ONE' : 'ROLE_NEEDS_TYPE';
    report([...path, 'role'], problem(reason, { role: field.role ?? '', types: [...shape.dataTypes] }));
  }
  const problems = checkConstraints(field);
  for (const { path: at, ...found } of problems) report([...path, ...stepsOf(at)], found);
  if (field.default === undefined || problems.length > 0) return field;
  const stored = compileValue(field, field.default, [...path, 'default'], checkStored, { view, report });
  if (stored === null) report([...path, 'default'], problem('EMPTY_DEFAULT'));
  return stored === undefined || stored === null ? field : { ...field, default: stored };
}

function checkStored(field: FieldDefinition, value: unknown) {
  const checked = checkValue(field, value, '');
  if (!checked.ok || checked.images.length === 0) return checked;
  return { ok: false as const, problems: [problemAt('', 'IMAGE_IN_DEFAULT')] };
}

/** Reports fields that the type lacks, and fields that are placed twice. */
function checkLayout(type: TypeDefinition, report: Report): void {
  const known = new Set(type.fields.map(({ code }) => code));
  const placed = new Set<string>();
  for (const [at, section] of (type.layout?.sections ?? []).entries()) {
    for (const [index, code] of section.fields.entries()) {
      const path = ['layout', 'sections', at, 'fields', index];
      if (!known.has(code)) report(path, problem('TYPE_HAS_NO_FIELD', { type: type.code, field: code }));
      else if (placed.has(code)) report(path, problem('DUPLICATE', { key: code }));
      placed.add(code);
    }
  }
}

function compile(type: TypeDefinition, view: CompileView, report: Report): TypeDefinition {
  checkUnique(type.fields, (field) => field.code, ['fields'], 'code', report);
  checkUnique(type.fields, (field) => field.role, ['fields'], 'role', report);
  const fields = type.fields.map((field, index) => compileField(field, index, view, report));
  if (type.title !== undefined) {
    const field = type.fields.find(({ code }) => code === type.title);
    if (field === undefined) report(['title'], problem('NO_TITLE_FIELD', { code: type.title }));
    else if (field.multiple || !TITLE_TYPES.includes(field.dataType)) {
      report(['title'], problem('TITLE_FIELD_TYPE', { types: TITLE_TYPES }));
    }
  }
  checkLayout(type, report);
  return { ...type, fields };
}

function compare(before: unknown, after: unknown): Comparison {
  const older = before as TypeDefinition;
  const newer = after as TypeDefinition;
  const notes = incompatibilities(older.fields, newer.fields);
  // The stored workflow state of a record belongs to its current workflow.
  if (older.workflow !== newer.workflow) notes.push(planNote('WORKFLOW_CHANGED'));
  return { compatible: notes.length === 0, notes };
}

/**
 * Field codes that an older version had, the newest lacks, and the change adds again: code → the field in those older versions.
 */
function returning(change: Change, view: CompileView): Map<string, { version: number; field: FieldDefinition }[]> {
  const found = new Map<string, { version: number; field: FieldDefinition }[]>();
  const versions = view.versions('types', change.code);
  const newest = versions.at(-1)?.compiled as TypeDefinition | undefined;
  for (const { code } of (change.definition as TypeDefinition).fields) {
    if (newest === undefined || newest.fields.some((field) => field.code === code)) continue;
    const had = versions.flatMap(({ version, compiled }) => {
      const field = (compiled as TypeDefinition).fields.find((one) => one.code === code);
      return field === undefined ? [] : [{ version, field }];
    });
    if (had.length > 0) found.set(code, had);
  }
  return found;
}

interface StoredRole {
  records: { type: string; fields: { read: string[] | '*'; write: string[] | '*' } }[];
}

/** Stored roles that name the field of the type. Their rights were granted for the removed field, not for the new one. */
function rolesNaming(view: CompileView, type: string, field: string): string[] {
  const codes = [...view.active('roles').keys(), ...view.archived('roles').keys()];
  return codes.filter((code) => {
    const stored = view.stored('roles', code);
    if (stored === undefined) return false;
    return (stored.definition as StoredRole).records.some(
      (grant) =>
        (grant.type === type || grant.type === '*') &&
        [grant.fields.read, grant.fields.write].some((list) => list.includes(field)),
    );
  });
}

/**
 * Checks field codes that are added again. The data type may differ only if no record holds a value of the old one, and no role
 * may still grant rights on the code.
 */
async function verifyReturning(
  ctx: ReadContext,
  change: Change,
  view: CompileView,
  probe: RecordProbe,
  report: SectionReport,
): Promise<void> {
  for (const [code, had] of returning(change, view)) {
    const index = (change.definition as TypeDefinition).fields.findIndex((field) => field.code === code);
    const field = (change.definition as TypeDefinition).fields[index] as FieldDefinition;
    const other = had.filter((old) => old.field.dataType !== field.dataType || old.field.multiple !== field.multiple);
    // Records store values under the first code of the field.
    const held = other.map(({ version, field: { storedAs = code } }) =>
      probe.holdsValue(ctx, change.id, [version], storedAs),
    );
    // Only those who may know all values learn whether some are held.
    const isHeld = (await Promise.all(held)).includes(true) || (other.length > 0 && !ctx.actor.has('role.assign'));
    if (isHeld) {
      const was = other.map((old) => old.field.dataType).join(', ');
      report(change.code, ['fields', index, 'code'], problem('CODE_IN_USE', { code, was, type: change.code }));
    }
    const roles = rolesNaming(view, change.code, code);
    if (roles.length > 0) {
      report(change.code, ['fields', index, 'code'], problem('RIGHTS_REMAIN', { roles }));
    }
  }
}

/** The indexes that will be built and dropped in the background after the apply. */
function indexNotes(change: Change): PlanNote[] {
  const filtered = (definition: unknown): string[] =>
    ((definition as TypeDefinition | undefined)?.fields ?? []).flatMap((field) =>
      field.search.filter ? [field.code] : [],
    );
  const before = filtered(change.stored?.definition);
  const after = change.action === 'archive' ? [] : filtered(change.definition);
  const built = after.filter((code) => !before.includes(code));
  const dropped = before.filter((code) => !after.includes(code));
  return [
    ...(built.length === 0 ? [] : [planNote('INDEXES_BUILT', { fields: built })]),
    ...(dropped.length === 0 ? [] : [planNote('INDEXES_DROPPED', { fields: dropped })]),
  ];
}

export function typesSection(probe: RecordProbe): ConfigSection {
  return defineSection<TypeItem, TypeDefinition>({
    key: 'types',
    summary: 'Record types and their fields.',
    schema: TypeItem,
    normalise: normaliseType,
    compile,
    verify: async (ctx, changes, view, report) => {
      for (const change of changes) {
        if (change.stored !== undefined && change.action !== 'archive') {
          await verifyReturning(ctx, change, view, probe, report);
        }
      }
    },
    lockRecords: (ctx) => probe.lockRecords(ctx),
    countRecords: (ctx, { id }, gone) => probe.countHolding(ctx, id, gone),
    notes: async (change, view, yielder) => [
      ...indexNotes(change),
      ...(await hiddenConditionNotes(change, view, yielder)),
    ],
    compare,
    // An explicit null, because an absent `title` would default to the field with the code `title`.
    toBundleItem: (type) => (type.title === undefined ? { ...type, title: null } : type),
  });
}
