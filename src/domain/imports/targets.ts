/**
 * Import targets: how to find, create and change records, users, groups and organisation units. They use the commands of the
 * API, which check the rights.
 */
import { isActive, type ItemState } from '../../contract/state.ts';
import { Fault, faultAt, type FaultDetail, invalidValues } from '../../lib/fault.ts';
import { canonicalUuid } from '../../lib/data-types/index.ts';
import { type Problem, problem } from '../../lib/problem.ts';
import { LOCALE } from '../../contract/schemas.ts';
import type { ReadContext, WriteContext } from '../../platform/unit-of-work/context.ts';
import * as identity from '../identity/index.ts';
import { findType, type RecordType, registry, valueOfCell } from '../metadata/index.ts';
import {
  archiveObject,
  createObject,
  findVisible,
  findChanges,
  preload,
  requireVisible,
  updateObject,
  type VisibleObject,
  readableValues,
} from '../objects/index.ts';
import type { ImportDefinition, TargetKind } from './registry.ts';

export type Values = Record<string, unknown>;

/** An existing item that the caller may see. */
export interface Existing {
  id: string;
  /** The mapped fields that the caller may read. */
  values: Values;
}

export interface Written {
  id: string;
  /** The revision after the write; null if the item has none. */
  revision: number | null;
  changed: boolean;
  /** The former values, for targets without a history; used by undo. */
  before?: Values;
  /** The mapped fields that the caller may read afterwards. */
  after: Values;
}

export interface Target {
  /** Whether rows of one content may depend on each other in other ways than by external id and look-ups. */
  readonly ordered: boolean;
  /** Loads the data of many rows in one batch. */
  preload(ctx: ReadContext, ids: readonly string[]): Promise<void>;
  /** The target of an external id. @throws Fault NOT_FOUND if it is missing, hidden, or of another type than this import's */
  require(ctx: ReadContext, id: string): Promise<Existing>;
  /** The target that the row names by an id of this service; undefined if it is missing, hidden, or of another type. */
  own(ctx: ReadContext, id: string): Promise<Existing | undefined>;
  create(ctx: WriteContext, values: Values): Promise<Written>;
  update(ctx: WriteContext, existing: Existing, values: Values): Promise<Written>;
  /** Undoes a creation. @returns the revision after it @throws Fault REVISION_CONFLICT, ARCHIVED, RIGHT_MISSING, NOT_FOUND */
  archive(ctx: WriteContext, id: string, expected: number): Promise<number>;
  /** Undoes the change that made the revision `made`. @returns the revision after it */
  restoreValues(ctx: WriteContext, change: MadeChange): Promise<number>;
}

interface MadeChange {
  id: string;
  made: number;
  /** The revision that the item must have now. */
  expected: number;
  /** The value of `Written.before`. */
  before: unknown;
}

// ---------------------------------------------------------------- records

interface ExistingObject extends Existing {
  object: VisibleObject;
}

/** @throws Fault NOT_FOUND if the type does not exist any more */
function typeOf(ctx: Pick<ReadContext, 'config'>, definition: ImportDefinition): RecordType {
  const type = findType(registry(ctx), definition.targetType ?? '');
  if (type === undefined) throw new Fault('NOT_FOUND', problem('TYPE_OF_IMPORT_GONE'));
  return type;
}

/** All values of a CSV are text. Texts that no transform converted are parsed by the data type of their field. */
function typed(definition: ImportDefinition, fields: VisibleObject['version']['fields'], values: Values): Values {
  if (definition.format !== 'CSV') return values;
  return Object.fromEntries(
    Object.entries(values).map(([code, value]) => {
      const field = fields.get(code);
      if (field === undefined) return [code, value];
      if (typeof value === 'string') return [code, valueOfCell(field, value)];
      if (!field.multiple || !Array.isArray(value)) return [code, value];
      const element = { ...field, multiple: false };
      return [code, value.map((one) => (typeof one === 'string' ? valueOfCell(element, one) : one))];
    }),
  );
}

function objectTarget(definition: ImportDefinition, type: RecordType): Target {
  const mapped = new Set(definition.mapping.map(({ target }) => target));
  const onlyMapped = (values: Values): Values =>
    Object.fromEntries(Object.entries(values).filter(([code]) => mapped.has(code)));
  const existing = (object: VisibleObject): ExistingObject => ({
    id: object.row.id,
    values: onlyMapped(readableValues(object)),
    object,
  });
  return {
    ordered: false,
    preload,
    require: async (ctx, id) => {
      const object = await requireVisible(ctx, id);
      if (object.type.id !== type.id) {
        throw new Fault('NOT_FOUND', problem('EXTERNAL_ID_OF_OTHER_TYPE', { type: type.code }));
      }
      return existing(object);
    },
    own: async (ctx, id) => {
      const object = await findVisible(ctx, id);
      return object?.type.id === type.id ? existing(object) : undefined;
    },
    create: async (ctx, values) => {
      const given = typed(definition, type.newest.fields, values);
      const created = await createObject(ctx, { typeDefinitionId: type.id, values: given, whole: true });
      return {
        id: created.id,
        revision: created.revision,
        changed: true,
        after: onlyMapped(created.values),
      };
    },
    update: async (ctx, found, values) => {
      const { row, version } = (found as ExistingObject).object;
      const changes = typed(definition, version.fields, values);
      const change = { objectId: row.id, expectedRevision: row.revision, changes, whole: true };
      const updated = await updateObject(ctx, change);
      return {
        id: row.id,
        revision: updated.revision,
        changed: updated.revision !== row.revision,
        after: onlyMapped(updated.values),
      };
    },
    archive: async (ctx, id, expected) =>
      (await archiveObject(ctx, { objectId: id, expectedRevision: expected })).revision,
    restoreValues: async (ctx, { id, made, expected }) => {
      const event = await findChanges(ctx, { id, typeId: type.id }, made);
      const before = Object.entries(event ?? {}).map(([code, [from]]) => [code, from] as const);
      const changes = Object.fromEntries(before);
      return (await updateObject(ctx, { objectId: id, expectedRevision: expected, changes })).revision;
    },
  };
}

// ---------------------------------------------------------------- users, groups and organisation units

type Texts = Record<string, string | null>;
type Answer = { id: string; revision: number; state: ItemState } & Record<string, unknown>;

/** Constraints on a value apart from being text; the commands check the rest. */
interface FieldRule {
  required?: true;
  /** The configuration refers to the item by it, so it cannot be changed. */
  fixed?: true;
  id?: true;
  pattern?: RegExp;
  most?: number;
}

interface Kind {
  fields: ReadonlyMap<string, FieldRule>;
  find(ctx: ReadContext, id: string): Promise<Answer | undefined>;
  create(ctx: WriteContext, texts: Texts): Promise<Answer>;
  update(ctx: WriteContext, id: string, expectedRevision: number, changes: Texts): Promise<Answer>;
  archive(ctx: WriteContext, id: string, expectedRevision: number): Promise<Answer>;
}

const MAX = 255;

const answer = (given: object): Answer => given as Answer;

// `checkTexts` checks the texts against the fields of the kind, so they fit the input types of the commands.
const KINDS: Readonly<Record<Exclude<TargetKind, 'object'>, Kind>> = {
  user: {
    fields: new Map<string, FieldRule>([
      ['login', { required: true, fixed: true }],
      ['displayName', { required: true }],
      ['email', { required: true }],
      ['locale', { pattern: new RegExp(LOCALE, 'u') }],
      ['timezone', {}],
      ['employeeId', {}],
      ['externalId', {}],
    ]),
    find: async (ctx, id) => {
      const found = await identity.findUser(ctx, id);
      return found === undefined ? undefined : answer(found);
    },
    create: async (ctx, texts) => answer(await identity.createUser(ctx, given<identity.NewUser>(texts))),
    update: async (ctx, userId, expectedRevision, changes) =>
      answer(await identity.updateUser(ctx, { ...(changes as object), userId, expectedRevision })),
    archive: async (ctx, id, expected) => answer(await identity.archiveUser(ctx, id, expected)),
  },
  group: {
    fields: new Map<string, FieldRule>([
      ['code', { required: true, fixed: true, most: 63 }],
      ['name', { required: true, most: 200 }],
    ]),
    find: async (ctx, id) => {
      const found = await identity.findGroup(ctx, id);
      return found === undefined ? undefined : answer(found);
    },
    create: async (ctx, texts) => answer(await identity.createGroup(ctx, given<identity.NewGroup>(texts))),
    update: async (ctx, groupId, expectedRevision, changes) =>
      answer(await identity.updateGroup(ctx, { ...(changes as object), groupId, expectedRevision })),
    archive: async (ctx, id, expected) => answer(await identity.archiveGroup(ctx, id, expected)),
  },
  organization: {
    fields: new Map<string, FieldRule>([
      ['name', { required: true, most: 200 }],
      ['code', { fixed: true, most: 63 }],
      ['parentId', { id: true }],
      ['managerUserId', { id: true }],
      ['location', {}],
    ]),
    find: async (ctx, id) => {
      const found = await identity.findUnit(ctx, id);
      return found === undefined ? undefined : answer(found);
    },
    create: async (ctx, texts) => answer(await identity.createUnit(ctx, given<identity.NewUnit>(texts))),
    update: async (ctx, organizationUnitId, expectedRevision, changes) =>
      answer(await identity.updateUnit(ctx, { ...(changes as object), organizationUnitId, expectedRevision })),
    archive: async (ctx, id, expected) => answer(await identity.archiveUnit(ctx, id, expected)),
  },
};

/** The properties of users, groups and units that an import can fill, named as in the identity API. */
export const IDENTITY_FIELDS: Readonly<Record<Exclude<TargetKind, 'object'>, readonly string[]>> = {
  user: [...KINDS.user.fields.keys()],
  group: [...KINDS.group.fields.keys()],
  organization: [...KINDS.organization.fields.keys()],
};

/** The input of a command: drops absent values. */
function given<T>(texts: Texts): T {
  return Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== null)) as T;
}

/** Converts the values to texts. @throws Fault INVALID_VALUES with every problem */
function checkTexts(kind: Kind, values: Values, creating: boolean): Texts {
  const problems: FaultDetail[] = [];
  const texts: [string, string | null][] = [];
  const report = (field: string, found: Problem): void => {
    problems.push({ path: `/${field}`, ...found });
  };
  for (const [field, rule] of kind.fields) {
    const value = Object.hasOwn(values, field) ? (values[field] ?? null) : undefined;
    if (value === undefined || value === null) {
      if (rule.required === true && (creating || value === null)) report(field, problem('REQUIRED'));
      else if (value === null) texts.push([field, null]);
    } else if (typeof value !== 'string') report(field, problem('VALUE_TYPE', { expected: { phrase: 'TEXT' } }));
    else if (rule.id === true && canonicalUuid(value) === undefined)
      report(field, problem('VALUE_FORMAT', { expected: { phrase: 'ID' } }));
    else if (value.length > (rule.most ?? MAX)) report(field, problem('TEXT_TOO_LONG', { max: rule.most ?? MAX }));
    else if (rule.pattern?.test(value) === false)
      report(field, problem('PATTERN_MISMATCH', { pattern: rule.pattern.source }));
    else texts.push([field, rule.id === true ? (canonicalUuid(value) ?? value) : value]);
  }
  if (problems.length > 0) throw invalidValues(problems);
  return Object.fromEntries(texts);
}

function sameName(a: string | null, b: unknown): boolean {
  return a === b || (a !== null && typeof b === 'string' && identity.findKey(a) === identity.findKey(b));
}

/** The differences from the current state. @throws Fault INVALID_VALUES if a fixed field would change */
function changesOf(kind: Kind, texts: Texts, current: Answer): Texts {
  const changes: [string, string | null][] = [];
  for (const [field, text] of Object.entries(texts)) {
    const rule = kind.fields.get(field);
    const before = current[field] ?? null;
    if (rule?.fixed === true ? text === null || sameName(text, before) : text === before) continue;
    if (rule?.fixed === true) {
      throw faultAt('INVALID_VALUES', `/${field}`, 'NOT_CHANGEABLE', { field });
    }
    changes.push([field, text]);
  }
  return Object.fromEntries(changes);
}

interface ExistingPrincipal extends Existing {
  answer: Answer;
}

function identityTarget(targetKind: Exclude<TargetKind, 'object'>, definition: ImportDefinition): Target {
  const kind = KINDS[targetKind];
  const shown = (of: Answer): Values =>
    Object.fromEntries(definition.mapping.map(({ target }) => [target, of[target] ?? null]));
  const existing = (of: Answer): ExistingPrincipal => ({ id: of.id, values: shown(of), answer: of });
  const written = (of: Answer, more: Partial<Written>): Written => ({
    id: of.id,
    revision: of.revision,
    changed: true,
    after: shown(of),
    ...more,
  });
  return {
    // Names are unique among all rows: the first row gets the name.
    ordered: true,
    preload: async () => {},
    require: async (ctx, id) => {
      const found = await kind.find(ctx, id);
      if (found === undefined) throw new Fault('NOT_FOUND', problem('EXTERNAL_ID_GONE'));
      return existing(found);
    },
    own: async (ctx, id) => {
      const found = await kind.find(ctx, id);
      return found === undefined ? undefined : existing(found);
    },
    create: async (ctx, values) => written(await kind.create(ctx, checkTexts(kind, values, true)), {}),
    update: async (ctx, found, values) => {
      const current = (found as ExistingPrincipal).answer;
      const changes = changesOf(kind, checkTexts(kind, values, false), current);
      if (Object.keys(changes).length === 0 && isActive(current)) return written(current, { changed: false });
      const changed = await kind.update(ctx, current.id, current.revision, changes);
      const before = Object.fromEntries(Object.keys(changes).map((field) => [field, current[field] ?? null]));
      return written(changed, { changed: changed.revision !== current.revision, before });
    },
    archive: async (ctx, id, expected) => (await kind.archive(ctx, id, expected)).revision,
    restoreValues: async (ctx, { id, expected, before }) =>
      (await kind.update(ctx, id, expected, (before ?? {}) as Texts)).revision,
  };
}

/** @throws Fault NOT_FOUND if the record type of the definition does not exist any more */
export function targetOf(ctx: Pick<ReadContext, 'config'>, definition: ImportDefinition): Target {
  const { targetKind } = definition;
  return targetKind === 'object'
    ? objectTarget(definition, typeOf(ctx, definition))
    : identityTarget(targetKind, definition);
}
