/** What the caller may do, and names for ids: the console offers only what the service would allow. */
import { RECORD_ACTIONS } from '../../contract/rights.ts';
import { consumerBacklog } from '../../platform/journal/consumers.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import type { ConfigSource, DerivedView } from '../../platform/unit-of-work/snapshot.ts';
import { findNames } from '../identity/index.ts';
import { mayUseNames } from './choices.ts';
import { type LocalizedText, named, type RecordType, registry } from '../metadata/index.ts';
import { findVisible, type ObjectAnswer, preload, project, requireVisible, readableTitle } from '../objects/index.ts';
import type { Suggest } from '../search/index.ts';
import { policiesOfType, timerBacklog } from '../sla/index.ts';
import { deliveryBacklog, DISPATCH } from '../webhooks/index.ts';

/** Actions on existing records. */
const ACTIONS = RECORD_ACTIONS.filter((action) => action !== 'create');

function typeAnswer(ctx: ReadContext, type: RecordType): unknown {
  const { actor } = ctx;
  const { definition, titleField, workflow } = type.newest;
  return {
    id: type.id,
    code: type.code,
    name: named(ctx, definition.name),
    plural: named(ctx, definition.plural ?? definition.name),
    category: definition.category,
    canRead: actor.mayEver(type.id, 'read'),
    canCreate: actor.mayEver(type.id, 'create'),
    canUpdate: actor.mayEver(type.id, 'update'),
    canArchive: actor.mayEver(type.id, 'archive'),
    canTransition: actor.mayEver(type.id, 'transition'),
    canAttach: actor.mayEver(type.id, 'attachment.add'),
    titleField: titleField !== null && actor.fieldAccess(type.id).canRead(titleField) ? titleField : null,
    numbered: definition.numbering !== undefined,
    ...formAnswer(ctx, type),
    states: [...(workflow?.states.values() ?? [])].map((state) => ({ ...state, name: named(ctx, state.name) })),
    slaPolicies: policiesOfType(ctx, type.id).map(({ code, name }) => ({ code, name: named(ctx, name) })),
  };
}

/** Description and layout of the form, without the fields that the caller can never read. */
function formAnswer(ctx: ReadContext, { id, newest }: RecordType) {
  const { description, layout } = newest.definition;
  const access = ctx.actor.fieldAccess(id);
  return {
    description: description === undefined ? null : named(ctx, description),
    layout: (layout?.sections ?? []).flatMap(({ name, columns, fields }) => {
      const shown = fields.filter((code) => access.canRead(code));
      return shown.length === 0 ? [] : [{ name: name === undefined ? null : named(ctx, name), columns, fields: shown }];
    }),
  };
}

export async function listTypes(ctx: ReadContext): Promise<unknown[]> {
  const { actor } = ctx;
  return registry(ctx)
    .active.filter((type) => actor.mayEver(type.id, 'read') || actor.mayEver(type.id, 'create'))
    .map((type) => typeAnswer(ctx, type));
}

/** @throws Fault NOT_FOUND */
export async function getPermissions(ctx: ReadContext, id: string): Promise<{ id: string; actions: string[] }> {
  const { right } = await requireVisible(ctx, id);
  return { id, actions: ACTIONS.filter((action) => right.can(action)) };
}

/** At most this many records are offered while a user types. */
const MAX_SUGGESTIONS = 8;

/** @param suggest finds records by number, title and words */
export async function listSuggestions(ctx: ReadContext, text: string, suggest: Suggest): Promise<Suggestion[]> {
  const ids = await suggest(ctx, text, MAX_SUGGESTIONS);
  await preload(ctx, ids);
  const found = await Promise.all(ids.map((id) => findVisible(ctx, id)));
  return found
    .filter((object) => object !== undefined)
    .map((object) => {
      const { id, typeCode, number, title, workflowState } = project(ctx, object);
      return { id, typeCode, number, title, workflowState };
    });
}

type Suggestion = Pick<ObjectAnswer, 'id' | 'typeCode' | 'number' | 'title' | 'workflowState'>;

/** Names of services, including archived ones that old values refer to. */
export const serviceNames: DerivedView<ReadonlyMap<string, LocalizedText>> = {
  name: 'desk.services',
  build: (source: ConfigSource) =>
    new Map(
      source.items.flatMap(({ id, section, code, compiled }) =>
        section === 'services' ? [[id, (compiled as { name?: LocalizedText }).name ?? code] as const] : [],
      ),
    ),
};

interface Label {
  id: string;
  kind: string;
  name: string | null;
  number?: string | null;
  typeCode?: string;
}

export async function getLabels(ctx: ReadContext, list: string): Promise<Label[]> {
  const ids = [...new Set(list.split(','))];
  const labels: Label[] = [];
  const services = ctx.config.get(serviceNames);
  for (const id of ids) {
    const name = services.get(id);
    if (name !== undefined) labels.push({ id, kind: 'service', name: named(ctx, name) });
  }
  const known = new Map((['user', 'group', 'org-unit'] as const).map((kind) => [kind, mayUseNames(ctx, kind)]));
  for (const { id, kind, name } of await findNames(ctx, ids)) {
    if (known.get(kind) === true || id === ctx.actor.userId) labels.push({ id, kind, name: named(ctx, name) });
  }
  const found = new Set(labels.map((label) => label.id));
  const rest = ids.filter((id) => !found.has(id));
  await preload(ctx, rest);
  for (const id of rest) {
    const object = await findVisible(ctx, id);
    if (object === undefined) continue;
    const { row, type } = object;
    labels.push({ id, kind: 'object', name: readableTitle(object), number: row.number, typeCode: type.code });
  }
  return labels;
}

// ---------------------------------------------------------------- backlog

/** Counting stops here: an exact number of a larger backlog is not needed, and the count must stay cheap. */
const BACKLOG_LIMIT = 10_000;

/** @throws Fault RIGHT_MISSING */
export async function getBacklog(ctx: ReadContext): Promise<unknown> {
  ctx.actor.require('config.manage');
  return {
    limit: BACKLOG_LIMIT,
    outbox: await consumerBacklog(ctx, DISPATCH, BACKLOG_LIMIT),
    deliveries: await deliveryBacklog(ctx, ctx.now, BACKLOG_LIMIT),
    timers: await timerBacklog(ctx, ctx.now, BACKLOG_LIMIT),
  };
}
