/** Users, groups and organisation units as import targets. Uses the commands of the identity API, which check the rights. */
import { Fault, type FaultDetail } from '../../lib/fault.ts';
import { canonicalUuid } from '../../lib/data-types/index.ts';
import { LOCALE } from '../../configuration/schemas.ts';
import type { ReadContext, WriteContext } from '../../platform/unit-of-work/context.ts';
import * as identity from '../identity/index.ts';
import type { ImportDefinition, TargetKind } from './definition.ts';
import type { Standing, Target, Values, Written } from './target.ts';

type Texts = Record<string, string | null>;
type Answer = { id: string; revision: number; state: string } & Record<string, unknown>;

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

const MOST = 255;

const answer = (given: object): Answer => given as Answer;

// `judged` checks the texts against the fields of the kind, so they fit the input types of the commands.
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

/** The input of a command: drops absent values. */
function given<T>(texts: Texts): T {
  return Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== null)) as T;
}

/** Converts the values to texts. @throws Fault INVALID_VALUES with every problem */
function judged(kind: Kind, values: Values, creating: boolean): Texts {
  const problems: FaultDetail[] = [];
  const texts: [string, string | null][] = [];
  const report = (field: string, code: string, message: string): void => {
    problems.push({ path: `/${field}`, code, message });
  };
  for (const [field, rule] of kind.fields) {
    const value = Object.hasOwn(values, field) ? (values[field] ?? null) : undefined;
    if (value === undefined || value === null) {
      if (rule.required === true && (creating || value === null)) report(field, 'REQUIRED', 'A value is required.');
      else if (value === null) texts.push([field, null]);
    } else if (typeof value !== 'string') report(field, 'WRONG_TYPE', 'The value must be text.');
    else if (rule.id === true && canonicalUuid(value) === undefined)
      report(field, 'INVALID_FORMAT', 'Use an id, a UUID.');
    else if (value.length > (rule.most ?? MOST))
      report(field, 'TOO_LONG', `Use at most ${rule.most ?? MOST} characters.`);
    else if (rule.pattern?.test(value) === false)
      report(field, 'WRONG_FORMAT', `It must match ${rule.pattern.source}.`);
    else texts.push([field, rule.id === true ? (canonicalUuid(value) ?? value) : value]);
  }
  if (problems.length > 0)
    throw new Fault('INVALID_VALUES', 'Some values are not acceptable; details name each.', problems);
  return Object.fromEntries(texts);
}

function sameName(a: string | null, b: unknown): boolean {
  return a === b || (a !== null && typeof b === 'string' && identity.findKey(a) === identity.findKey(b));
}

/** The differences from the current state. @throws Fault INVALID_VALUES if a fixed field would change */
function changesOf(kind: Kind, texts: Texts, stands: Answer): Texts {
  const changes: [string, string | null][] = [];
  for (const [field, text] of Object.entries(texts)) {
    const rule = kind.fields.get(field);
    const before = stands[field] ?? null;
    if (rule?.fixed === true ? text === null || sameName(text, before) : text === before) continue;
    if (rule?.fixed === true) {
      const message = `The ${field} cannot be changed: the configuration names it by that.`;
      throw new Fault('INVALID_VALUES', message, [{ path: `/${field}`, code: 'NOT_CHANGEABLE', message }]);
    }
    changes.push([field, text]);
  }
  return Object.fromEntries(changes);
}

interface StandingPerson extends Standing {
  answer: Answer;
}

export function identityTarget(targetKind: Exclude<TargetKind, 'object'>, definition: ImportDefinition): Target {
  const kind = KINDS[targetKind];
  const shown = (of: Answer): Values =>
    Object.fromEntries(definition.mapping.map(({ target }) => [target, of[target] ?? null]));
  const standing = (of: Answer): StandingPerson => ({ id: of.id, values: shown(of), answer: of });
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
      if (found === undefined) throw new Fault('NOT_FOUND', 'What the external id belongs to is gone.');
      return standing(found);
    },
    own: async (ctx, id) => {
      const found = await kind.find(ctx, id);
      return found === undefined ? undefined : standing(found);
    },
    create: async (ctx, values) => written(await kind.create(ctx, judged(kind, values, true)), {}),
    update: async (ctx, found, values) => {
      const stands = (found as StandingPerson).answer;
      const changes = changesOf(kind, judged(kind, values, false), stands);
      if (Object.keys(changes).length === 0 && stands.state === 'ACTIVE') return written(stands, { changed: false });
      const changed = await kind.update(ctx, stands.id, stands.revision, changes);
      const before = Object.fromEntries(Object.keys(changes).map((field) => [field, stands[field] ?? null]));
      return written(changed, { changed: changed.revision !== stands.revision, before });
    },
    archive: async (ctx, id, expected) => (await kind.archive(ctx, id, expected)).revision,
    putBack: async (ctx, { id, expected, before }) =>
      (await kind.update(ctx, id, expected, (before ?? {}) as Texts)).revision,
  };
}
