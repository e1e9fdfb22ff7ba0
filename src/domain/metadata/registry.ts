/**
 * Record types and workflows: their stored definitions, and the registry of one configuration snapshot.
 *
 * Definitions have the shape of the bundle with every default filled in, so that two equal configurations are equal JSON
 * (docs/spec/configuration.md#bundle).
 */
import { type Constraints, type DataType, isFolded, isId, type Renamed } from '../../lib/data-types/index.ts';
import type { Condition } from '../../lib/filter.ts';
import type { FieldRole } from '../../contract/field-roles.ts';
import { isActive } from '../../contract/state.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import type { ConfigItem, ConfigSource, DerivedView } from '../../platform/unit-of-work/snapshot.ts';
import { fieldsByRole, type FieldsByRole, withRolesOf } from './field-roles.ts';
import { type StoredCodes, storedCodesOf } from './stored-codes.ts';

/** A text that may differ by locale: one string for all locales, or locale → text. */
export type LocalizedText = string | { [locale: string]: string };

export type FieldConstraints = Constraints<LocalizedText>;

/** How the field is indexed for search. */
export interface FieldSearch {
  text: boolean;
  filter: boolean;
  facet: boolean;
}

export interface FieldDefinition extends Renamed {
  code: string;
  name: LocalizedText;
  description?: LocalizedText;
  dataType: DataType;
  required: boolean;
  readOnly: boolean;
  multiple: boolean;
  /** Each role at most once in a type; read it with `fieldsInRole`. */
  role?: FieldRole;
  constraints: FieldConstraints;
  /** In stored configuration: as in the bundle (codes, logins). In a loaded type version: as stored in a record (ids). */
  default?: unknown;
  search: FieldSearch;
}

/** Order and grouping of the fields in record forms. Fields in no section follow the last one. */
export interface FormLayout {
  sections: { name?: LocalizedText; columns: 1 | 2; fields: string[] }[];
}

export interface TypeDefinition {
  code: string;
  name: LocalizedText;
  /** The name of a list of records; default: `name`. */
  plural?: LocalizedText;
  description?: LocalizedText;
  category: 'object' | 'dictionary';
  numbering?: { prefix: string; digits: number };
  /** Code of the field whose text is the title of a record. */
  title?: string;
  /** Code of the workflow. */
  workflow?: string;
  /** Absent: only those who may work on a record can be its assignee. */
  assignable?: 'anyone';
  fields: FieldDefinition[];
  layout?: FormLayout;
}

export type WorkflowCategory = 'open' | 'waiting' | 'done';

export interface WorkflowState {
  code: string;
  name: LocalizedText;
  category: WorkflowCategory;
  /** Code of the transition that an answer of the requester fires. */
  onRequesterReply?: string;
  /** ISO 8601: how long after the record came to the state an answer fires; absent: always. */
  reopenWithin?: string;
}

/** A field of a transition's form: a field of the record, or `$reason` (text) or `$decisionReport` (rich text). */
export interface TransitionField {
  code: string;
  required: boolean;
}

export interface TransitionDefinition {
  code: string;
  name: LocalizedText;
  from: string[] | '*';
  to: string;
  condition?: Condition;
  fields: TransitionField[];
  set: { [fieldCode: string]: unknown };
}

export interface WorkflowDefinition {
  code: string;
  name: LocalizedText;
  initial: string;
  states: WorkflowState[];
  transitions: TransitionDefinition[];
}

export interface StateView extends Renamed, WorkflowState {
  id: string;
}

/** The part of a workflow that records need. Transitions belong to the workflow module. */
export interface WorkflowView {
  id: string;
  code: string;
  initialId: string;
  states: ReadonlyMap<string, StateView>;
}

export interface TypeVersion {
  typeId: string;
  version: number;
  definition: TypeDefinition;
  fields: ReadonlyMap<string, FieldDefinition>;
  /** Read it with `fieldsInRole`. */
  roles: FieldsByRole<FieldDefinition>;
  titleField: string | null;
  workflow: WorkflowView | null;
}

/** Fields of a type version by what every create asks for, so that it need not go through all of them. */
export interface FieldLists {
  required: readonly FieldDefinition[];
  withDefault: readonly FieldDefinition[];
  folded: readonly FieldDefinition[];
  ids: readonly FieldDefinition[];
}

const lists = new WeakMap<TypeVersion, FieldLists>();

/** Computed once for each version; versions never change. */
export function fieldLists(version: TypeVersion): FieldLists {
  let found = lists.get(version);
  if (found === undefined) {
    const fields = [...version.fields.values()];
    found = {
      required: fields.filter((field) => field.required),
      withDefault: fields.filter((field) => field.default !== undefined),
      folded: fields.filter((field) => isFolded(field.dataType)),
      ids: fields.filter((field) => isId(field.dataType)),
    };
    lists.set(version, found);
  }
  return found;
}

export interface RecordType {
  id: string;
  code: string;
  active: boolean;
  newest: TypeVersion;
  versions: ReadonlyMap<number, TypeVersion>;
}

export interface Settings {
  defaultLocale: string;
  timezone: string;
  attachmentMaxBytes: number;
  searchExactTotal: number;
  notificationFields: NotificationFields;
}

/** Codes of the fields that name the people of a record: users or groups. Types need not have them. */
interface NotificationFields {
  assignee: readonly string[];
  group: readonly string[];
  requester: readonly string[];
}

export interface TypeRegistry {
  byId: ReadonlyMap<string, RecordType>;
  byCode: ReadonlyMap<string, RecordType>;
  active: readonly RecordType[];
  /** All states of all workflows by id, including those of archived workflows. */
  states: ReadonlyMap<string, StateView>;
  /** Transition id → code, of all workflows. */
  transitions: ReadonlyMap<string, string>;
  /** Type id → translation of its codes, for types in which a field, option or state was renamed. */
  storedCodes: ReadonlyMap<string, StoredCodes>;
  settings: Settings;
  /** Ids of the active services, for values of data type `service`. */
  services: ReadonlySet<string>;
}

interface CompiledWorkflow {
  code: string;
  initialId: string;
  states: StateView[];
  transitions: { id: string; code: string }[];
}

/** Settings as the configuration has them. Fields that are missing have their defaults. */
export type StoredSettings = Omit<Settings, 'notificationFields'> & {
  notificationFields?: Partial<NotificationFields>;
};

const DEFAULT_SETTINGS: Settings = {
  defaultLocale: 'ru-RU',
  timezone: 'Europe/Moscow',
  attachmentMaxBytes: 7_340_032,
  searchExactTotal: 1000,
  notificationFields: { assignee: ['assignee'], group: ['group'], requester: ['requester'] },
};

function version(
  typeId: string,
  number: number,
  compiled: TypeDefinition,
  workflows: Map<string, WorkflowView>,
  peopleFields: NotificationFields,
): TypeVersion {
  return {
    typeId,
    version: number,
    definition: compiled,
    fields: new Map(compiled.fields.map((field) => [field.code, field])),
    roles: fieldsByRole(compiled.fields, { ...peopleFields }),
    titleField: compiled.title ?? null,
    workflow: compiled.workflow === undefined ? null : (workflows.get(compiled.workflow) ?? null),
  };
}

function build(source: ConfigSource): TypeRegistry {
  const section = (name: string): ConfigItem[] => source.items.filter((item) => item.section === name);
  const states = new Map<string, StateView>();
  const workflows = new Map<string, WorkflowView>();
  const transitions = new Map<string, string>();
  for (const item of section('workflows')) {
    const compiled = item.compiled as CompiledWorkflow;
    const own = new Map(compiled.states.map((state) => [state.id, state]));
    for (const [id, state] of own) states.set(id, state);
    for (const { id, code } of compiled.transitions) transitions.set(id, code);
    workflows.set(item.code, { id: item.id, code: item.code, initialId: compiled.initialId, states: own });
  }
  const stored = section('settings')[0]?.compiled as Partial<StoredSettings> | undefined;
  const settings = {
    ...DEFAULT_SETTINGS,
    ...stored,
    notificationFields: { ...DEFAULT_SETTINGS.notificationFields, ...stored?.notificationFields },
  };
  const definitionsOf = new Map<string, Map<number, TypeDefinition>>();
  for (const { typeId, version: number, compiled } of source.typeVersions) {
    const of = definitionsOf.get(typeId) ?? new Map<number, TypeDefinition>();
    of.set(number, compiled as TypeDefinition);
    definitionsOf.set(typeId, of);
  }
  const types: RecordType[] = [];
  for (const item of section('types')) {
    const definitions = definitionsOf.get(item.id);
    if (definitions === undefined) continue;
    const newestNumber = Math.max(...definitions.keys());
    const current = definitions.get(newestNumber) as TypeDefinition;
    const versions = new Map(
      [...definitions].map(([number, definition]) => {
        const compiled = number === newestNumber ? definition : withRolesOf(current, definition);
        return [number, version(item.id, number, compiled, workflows, settings.notificationFields)];
      }),
    );
    const newest = versions.get(newestNumber) as TypeVersion;
    types.push({ id: item.id, code: item.code, active: isActive(item), newest, versions });
  }
  return {
    byId: new Map(types.map((type) => [type.id, type])),
    byCode: new Map(types.map((type) => [type.code, type])),
    active: types.filter((type) => type.active),
    states,
    transitions,
    storedCodes: new Map(
      types.flatMap((type) => {
        const codes = storedCodesOf(type);
        return codes === null ? [] : [[type.id, codes] as const];
      }),
    ),
    settings,
    services: new Set(section('services').flatMap((item) => (isActive(item) ? [item.id] : []))),
  };
}

export const typeView: DerivedView<TypeRegistry> = { name: 'metadata', build };

export function registry(ctx: Pick<ReadContext, 'config'>): TypeRegistry {
  return ctx.config.get(typeView);
}

/** Finds a type by id or code. The id takes precedence if a code equals another type's id. */
export function findType(types: TypeRegistry, idOrCode: string): RecordType | undefined {
  return types.byId.get(idOrCode) ?? types.byCode.get(idOrCode);
}

/** The version of a stored record. A version in use is never removed, so a missing one is a defect. */
export function versionOf(types: TypeRegistry, typeId: string, number: number): TypeVersion {
  const found = types.byId.get(typeId)?.versions.get(number);
  if (found === undefined) throw new Error(`type ${typeId} has no version ${number}`);
  return found;
}

/** Versions in which the field's data type or multiplicity differs from the newest. Their records match no condition on it. */
export function mismatchedVersions(type: RecordType, fieldCode: string): number[] {
  const newest = type.newest.fields.get(fieldCode);
  const shape = (field: { dataType: DataType; multiple: boolean } | undefined): string =>
    field === undefined ? '' : `${field.dataType} ${field.multiple}`;
  return [...type.versions.values()]
    .filter((of) => of.fields.has(fieldCode) && shape(of.fields.get(fieldCode)) !== shape(newest))
    .map((of) => of.version);
}

/** A configured name in the caller's locale, else in the default locale. */
export function named(ctx: Pick<ReadContext, 'config' | 'locale'>, text: LocalizedText): string {
  const { defaultLocale } = registry(ctx).settings;
  return localized(text, ctx.locale ?? defaultLocale, defaultLocale);
}

/**
 * The text in the given locale, else in the default locale, else the first one
 * (docs/spec/catalogue-and-knowledge.md#catalogue).
 */
export function localized(text: LocalizedText, locale: string, fallback: string): string {
  if (typeof text === 'string') return text;
  if (Object.hasOwn(text, locale)) return text[locale] as string;
  if (Object.hasOwn(text, fallback)) return text[fallback] as string;
  return Object.values(text)[0] ?? '';
}
