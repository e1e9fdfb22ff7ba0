/** The connections that stop working with a change of the configuration: webhooks, integrations and import definitions. */
import type { Impact, ImpactContext } from '../../configuration/impact.ts';
import { type CommentVisibility, DEFAULT_VISIBILITY, rightForVisibility } from '../../contract/comment-visibility.ts';
import type { RecordAction } from '../../contract/rights.ts';
import { isActive } from '../../contract/state.ts';
import type { ConfigItem } from '../../platform/unit-of-work/snapshot.ts';
import { type TypeRegistry, typeView } from '../metadata/index.ts';
import { actorFor, type UserActor } from './actor.ts';
import { itemsOf } from './impact-roles.ts';
import type { UserRow } from './store.ts';
import type { Actors } from './store-impact.ts';

interface Connection {
  enabled?: boolean;
  executionPrincipalId?: string;
  /** Codes of the only types of a webhook. */
  filters?: { types?: string[] };
  /** Id of the only type of an integration. */
  typeId?: string | null;
  config?: { command?: string; visibility?: CommentVisibility; mapping?: { target: string }[] };
}

/** The rights on a record that the command of an integration needs. */
function actionsOf({ command, visibility, mapping = [] }: NonNullable<Connection['config']>): RecordAction[] {
  if (command === 'object.create') return ['create'];
  if (command === 'object.update') return ['update'];
  if (command !== 'comment.add') return [];
  // A call may choose the visibility if it is mapped.
  const right = mapping.some(({ target }) => target === 'visibility')
    ? null
    : rightForVisibility(visibility ?? DEFAULT_VISIBILITY);
  return right === null ? ['comment.create'] : ['comment.create', right];
}

/** The first action that the principal may do before, and not after the change, on the type or on one of all types. */
function lostAction({ before, after }: Record<keyof Actors, UserActor>, now: Connection): RecordAction | undefined {
  return actionsOf(now.config ?? {}).find((action) => {
    const types = before.typesFor(action).filter((type) => (now.typeId ?? type) === type);
    return types.some((type) => !after.mayEver(type, action));
  });
}

const REASONS: Partial<Record<RecordAction, string>> = {
  create: 'PRINCIPAL_MAY_NOT_CREATE',
  update: 'PRINCIPAL_MAY_NOT_UPDATE',
  'comment.create': 'PRINCIPAL_MAY_NOT_COMMENT',
  'Private Comment': 'PRINCIPAL_MAY_NOT_COMMENT',
};

/** Why a connection works before and not after the change; undefined if nothing breaks. */
function breakOf(
  was: ConfigItem,
  is: ConfigItem | undefined,
  { before, after }: Actors,
  types: TypeRegistry,
): string | undefined {
  const [old, now] = [was.compiled as Connection, is?.compiled as Connection | undefined];
  if (!isActive(was) || old.enabled === false) return undefined;
  if (is === undefined || !isActive(is)) return 'ARCHIVED';
  if (now?.enabled === false) return 'DISABLED';
  if (now?.executionPrincipalId === undefined || before === undefined) return undefined;
  if (after === undefined) return 'PRINCIPAL_ARCHIVED';
  if (was.section === 'webhooks') {
    const only = (now.filters?.types ?? []).map((code) => types.byCode.get(code)?.id);
    const read = before.typesFor('read').filter((type) => only.length === 0 || only.includes(type));
    return read.some((type) => !after.mayEver(type, 'read')) ? 'PRINCIPAL_READS_LESS' : undefined;
  }
  const lost = lostAction({ before, after }, now);
  return lost === undefined ? undefined : REASONS[lost];
}

export function brokenConnections(
  { before, after }: ImpactContext,
  was: ReadonlyMap<string, UserRow>,
  is: ReadonlyMap<string, UserRow>,
): Impact['broken'] {
  const broken: Impact['broken'] = [];
  for (const section of ['webhooks', 'integrations', 'importDefinitions']) {
    const now = itemsOf(after.config, section);
    for (const item of before.config.items(section)) {
      const next = now.get(item.id);
      const principal = (next?.compiled as Connection | undefined)?.executionPrincipalId ?? '';
      const [old, present] = [was.get(principal), is.get(principal)];
      const actors = {
        before: old === undefined ? undefined : actorFor(old, before.config),
        after: present === undefined ? undefined : actorFor(present, after.config),
      };
      const reason = breakOf(item, next, actors, after.config.get(typeView));
      if (reason !== undefined) broken.push({ section, code: item.code, reason });
    }
  }
  return broken;
}
