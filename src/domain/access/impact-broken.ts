/**
 * The items that stop working with a change of the configuration: connections, rules, macros, dashboards, templates and mailboxes.
 * Every section of the bundle is in the table, so a new one says how its items can break.
 */
import type { Impact, ImpactContext } from '../../configuration/impact.ts';
import { type CommentVisibility, DEFAULT_VISIBILITY, rightForVisibility } from '../../contract/comment-visibility.ts';
import type { SectionKey } from '../../configuration/section.ts';
import type { RecordAction } from '../../contract/rights.ts';
import { isActive } from '../../contract/state.ts';
import type { ConfigItem, ConfigSnapshot } from '../../platform/unit-of-work/snapshot.ts';
import { typeView } from '../metadata/index.ts';
import { actorFor, type UserActor } from './actor.ts';
import { itemsOf } from './impact-roles.ts';
import { roleView } from './roles.ts';
import type { UserRow } from './store.ts';
import type { Actors } from './store-impact.ts';

/** What the compiled items of several sections have. */
interface Item {
  enabled?: boolean;
  executionPrincipalId?: string;
  runAsId?: string | null;
  /** Codes of the only types of a webhook. */
  filters?: { types?: string[] };
  /** Id of the only type of an integration or a mailbox. */
  typeId?: string | null;
  typeIds?: readonly string[];
  config?: { command?: string; visibility?: CommentVisibility; mapping?: { target: string }[] };
  /** Of a rule. */
  do?: readonly { kind: string; type?: string; visibility?: CommentVisibility }[];
  /** Of a macro. */
  comment?: { visibility: CommentVisibility };
  transition?: string;
  set?: object;
  roleIds?: readonly string[] | null;
  /** Of a dashboard. */
  tiles?: readonly { query: { types: readonly string[] } }[];
}

/** An item that was active and is still, before and after the change. */
interface Step {
  now: Item;
  before: ConfigSnapshot;
  after: ConfigSnapshot;
  /** The rights of the user whom the item runs as. */
  actors: Actors;
}

type Break = (step: Step) => string | undefined;

/** An action on records of a type. */
type Need = readonly [typeId: string, action: RecordAction];

function commentActions(visibility: CommentVisibility): RecordAction[] {
  const right = rightForVisibility(visibility);
  return right === null ? ['comment.create'] : ['comment.create', right];
}

/** The rights on a record that the command of an integration needs. */
function commandActions({ command, visibility, mapping = [] }: NonNullable<Item['config']>): RecordAction[] {
  if (command === 'object.create') return ['create'];
  if (command === 'object.update') return ['update'];
  if (command !== 'comment.add') return [];
  // A call may choose the visibility if it is mapped.
  const chosen = mapping.some(({ target }) => target === 'visibility');
  return chosen ? ['comment.create'] : commentActions(visibility ?? DEFAULT_VISIBILITY);
}

const REASONS: Partial<Record<RecordAction, string>> = {
  read: 'PRINCIPAL_READS_LESS',
  create: 'PRINCIPAL_MAY_NOT_CREATE',
  update: 'PRINCIPAL_MAY_NOT_UPDATE',
  transition: 'PRINCIPAL_MAY_NOT_TRANSITION',
  'comment.create': 'PRINCIPAL_MAY_NOT_COMMENT',
  'Private Comment': 'PRINCIPAL_MAY_NOT_COMMENT',
};

/** Why the user whom an item runs as can no longer do what it does. */
function principalBreak({ before, after }: Actors, needs: (before: UserActor) => Iterable<Need>): string | undefined {
  if (before === undefined) return undefined;
  if (after === undefined) return 'PRINCIPAL_ARCHIVED';
  for (const [typeId, action] of needs(before)) {
    if (before.mayEver(typeId, action) && !after.mayEver(typeId, action)) return REASONS[action];
  }
  return undefined;
}

const webhookBreak: Break = ({ now, after, actors }) => {
  const types = after.get(typeView);
  const only = (now.filters?.types ?? []).map((code) => types.byCode.get(code)?.id);
  return principalBreak(actors, (user) =>
    user
      .typesFor('read')
      .filter((type) => only.length === 0 || only.includes(type))
      .map((type): Need => [type, 'read']),
  );
};

const integrationBreak: Break = ({ now, actors }) =>
  principalBreak(actors, (user) =>
    commandActions(now.config ?? {}).flatMap((action) =>
      user
        .typesFor(action)
        .filter((type) => (now.typeId ?? type) === type)
        .map((type): Need => [type, action]),
    ),
  );

/** What the actions of a rule need on the record that fires it. */
const RULE_ACTIONS: Readonly<Record<string, RecordAction>> = { set: 'update', transition: 'transition' };

const ruleBreak: Break = ({ now, after, actors }) => {
  const types = now.typeIds ?? [];
  const needs = (now.do ?? []).flatMap(({ kind, type = '', visibility }): Need[] => {
    const created = kind === 'create' ? after.get(typeView).byCode.get(type)?.id : undefined;
    if (created !== undefined) return [[created, 'create']];
    const own = RULE_ACTIONS[kind];
    const actions = visibility === undefined ? (own === undefined ? [] : [own]) : commentActions(visibility);
    return types.flatMap((id) => actions.map((action): Need => [id, action]));
  });
  return principalBreak(actors, () => [...types.map((id): Need => [id, 'read']), ...needs]);
};

/** Whether one of the roles, or of all, gives the action on some records of the type. */
function isGranted(config: ConfigSnapshot, [typeId, action]: Need, roleIds?: readonly string[] | null): boolean {
  const roles = config.get(roleView);
  return [...(roleIds ?? roles.ids.values())].some((id) =>
    roles
      .one(id)
      ?.grants.get(typeId)
      ?.some(({ actions }) => actions.has(action)),
  );
}

/** `NOBODY_MAY_USE` if some role gave one of the actions before, and none does after the change. */
function unusable({ now, before, after }: Step, needs: readonly Need[]): string | undefined {
  const lost = needs.some((need) => isGranted(before, need, now.roleIds) && !isGranted(after, need, now.roleIds));
  return lost ? 'NOBODY_MAY_USE' : undefined;
}

const macroBreak: Break = (step) => {
  const { comment, transition, set = {}, typeIds = [] } = step.now;
  const actions: RecordAction[] = [
    ...(comment === undefined ? [] : commentActions(comment.visibility)),
    ...(transition === undefined ? [] : (['transition'] as const)),
    ...(Object.keys(set).some((code) => !code.startsWith('$')) ? (['update'] as const) : []),
  ];
  return unusable(
    step,
    typeIds.flatMap((id) => actions.map((action): Need => [id, action])),
  );
};

const dashboardBreak: Break = (step) => {
  const { byCode } = step.after.get(typeView);
  const types = new Set((step.now.tiles ?? []).flatMap(({ query }) => query.types));
  return unusable(
    step,
    [...types].flatMap((code): Need[] => {
      const id = byCode.get(code)?.id;
      return id === undefined ? [] : [[id, 'read']];
    }),
  );
};

const mailboxBreak: Break = (step) => {
  const { typeId } = step.now;
  return typeof typeId === 'string' ? unusable(step, [[typeId, 'create']]) : undefined;
};

/** Only archived or disabled: the checks of a bundle keep the rest of such items sound. */
const switchedOnly: Break = () => undefined;

/** How the items of each section break. Null: other items use them, and say so themselves. */
const BREAKS: Readonly<Record<SectionKey, Break | null>> = {
  settings: null,
  users: null,
  groups: null,
  orgUnits: null,
  workflows: null,
  types: null,
  roles: null,
  calendars: null,
  slaPolicies: null,
  relationDefinitions: null,
  services: null,
  catalogs: null,
  knowledgeBases: null,
  signingSecrets: null,
  synonyms: null,
  webhooks: webhookBreak,
  integrations: integrationBreak,
  importDefinitions: switchedOnly,
  dashboards: dashboardBreak,
  macros: macroBreak,
  rules: ruleBreak,
  templates: switchedOnly,
  mailboxes: mailboxBreak,
};

/** Why an item works before and not after the change; undefined if nothing breaks. */
function breakOf(was: ConfigItem, is: ConfigItem | undefined, step: Omit<Step, 'now'>, ownBreak: Break) {
  if (!isActive(was) || (was.compiled as Item).enabled === false) return undefined;
  if (is === undefined || !isActive(is)) return 'ARCHIVED';
  const now = is.compiled as Item;
  return now.enabled === false ? 'DISABLED' : ownBreak({ ...step, now });
}

export function brokenItems(
  { before: { config: before }, after: { config: after } }: Pick<ImpactContext, 'before' | 'after'>,
  was: ReadonlyMap<string, UserRow>,
  is: ReadonlyMap<string, UserRow>,
): Impact['broken'] {
  const broken: Impact['broken'] = [];
  for (const [section, ownBreak] of Object.entries(BREAKS)) {
    if (ownBreak === null) continue;
    const now = itemsOf(after, section);
    for (const item of before.items(section)) {
      const next = now.get(item.id);
      const { executionPrincipalId, runAsId } = (next?.compiled ?? {}) as Item;
      const principal = executionPrincipalId ?? runAsId ?? '';
      const [old, present] = [was.get(principal), is.get(principal)];
      const actors = {
        before: old === undefined ? undefined : actorFor(old, before),
        after: present === undefined ? undefined : actorFor(present, after),
      };
      const reason = breakOf(item, next, { before, after, actors }, ownBreak);
      if (reason !== undefined) broken.push({ section, code: item.code, reason });
    }
  }
  return broken;
}
