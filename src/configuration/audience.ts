/** Audiences: who may see an item of the configuration. Either everyone, or users given directly, by group or by unit. */
import { isActive } from '../contract/state.ts';
import Type, { type Static } from 'typebox';
import { closed, described, Login, optional } from '../contract/schemas.ts';
import { problem } from '../lib/problem.ts';
import { CodeOf } from './schemas.ts';
import type { Actor } from '../platform/unit-of-work/context.ts';
import type { CompileView, ItemPath, Report } from './section.ts';
import type { DerivedView } from '../platform/unit-of-work/snapshot.ts';

const codes = (description: string, of: typeof Login) =>
  optional(description, Type.Array(of, { maxItems: 1000, uniqueItems: true }));

export const AudienceSchema = described(
  'Who may see and use it: everyone, or members of any of the lists. Absent or empty: nobody.',
  closed({
    everyone: optional('True admits every user; the lists must then be empty. Default: false.', Type.Boolean()),
    groups: codes('Codes of groups that it is for, with the members of nested groups.', CodeOf('groups')),
    orgUnits: codes('Codes of organisation units that it is for, with the units below them.', CodeOf('orgUnits')),
    users: codes('Logins of users that it is for.', Login),
  }),
);

type Item = Static<typeof AudienceSchema>;

/** Contains codes and logins in definitions, ids in compiled form. An omitted or empty audience admits no user. */
export interface Audience {
  everyone: boolean;
  /** Includes members of nested groups. */
  groups: string[];
  /** Includes users of the units below them. */
  orgUnits: string[];
  users: string[];
}

const KINDS = ['groups', 'orgUnits', 'users'] as const;

export function normaliseAudience(item: Item | undefined): Audience {
  const { everyone = false, groups = [], orgUnits = [], users = [] } = item ?? {};
  return { everyone, groups, orgUnits, users };
}

export function compileAudience(audience: Audience, path: ItemPath, view: CompileView, report: Report): Audience {
  const compiled = { ...audience };
  for (const kind of KINDS) {
    if (audience.everyone && audience[kind].length > 0) {
      report([...path, kind], problem('EVERYONE_AND_OTHERS'));
    }
    // References are checked elsewhere, which reports unknown ones.
    compiled[kind] = audience[kind].flatMap((code) => (view.has(kind, code) ? [view.id(kind, code)] : []));
  }
  return compiled;
}

/** Whether a compiled audience admits the user with their current groups and unit. */
export function isAdmitted(audience: Audience, actor: Actor): boolean {
  const { userId, variables, unitsAbove } = actor;
  return (
    audience.everyone ||
    (userId !== null && audience.users.includes(userId)) ||
    audience.groups.some((id) => variables.groups.includes(id)) ||
    audience.orgUnits.some((id) => unitsAbove.includes(id))
  );
}

/** The property of a configuration item, or of a part of it, that contains a compiled audience. */
const PROPERTY = 'audience';

function isAudience(value: unknown): value is Audience {
  return KINDS.every((kind) => Array.isArray((value as Partial<Audience> | null)?.[kind]));
}

function* audiencesIn(value: unknown): Generator<Audience> {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, part] of Object.entries(value)) {
    if (key === PROPERTY && isAudience(part)) yield part;
    else yield* audiencesIn(part);
  }
}

/** The audiences of all active configuration items of all sections. */
export const audienceView: DerivedView<readonly Audience[]> = {
  name: 'configuration.audiences',
  build: ({ items }) => items.filter(isActive).flatMap(({ compiled }) => [...audiencesIn(compiled)]),
};
