/** From the body of a call to the call of the command's own endpoint (decisions, "Inbound"). Pure. */
import type { CommandName, IntegrationDefinition } from './definitions.ts';

/** Targets that are not fields, by command: those that must be mapped, and those that may be. */
export const TARGETS: Readonly<
  Record<CommandName, { needed: readonly string[]; possible: readonly string[]; fields: boolean }>
> = {
  'object.create': { needed: [], possible: ['objectId'], fields: true },
  'object.update': { needed: ['objectId', 'expectedRevision'], possible: [], fields: true },
  'comment.add': { needed: ['objectId', 'body'], possible: ['visibility'], fields: false },
};

const INDEX = /^(?:0|[1-9]\d{0,8})$/;

/**
 * The value at a dotted path, own members alone: `alert.labels.host`, `items.0.name`.
 *
 * @returns undefined where there is none; null is a value
 */
export function valueAt(body: unknown, path: string): unknown {
  let at = body;
  for (const step of path.split('.')) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, step)) return undefined;
    // Of a list, its elements: its length is its own as well.
    if (Array.isArray(at) && !INDEX.test(step)) return undefined;
    at = Reflect.get(at, step);
  }
  return at;
}

/** The request to the command's own endpoint that a body becomes. */
export interface MappedCall {
  method: 'POST' | 'PATCH';
  /** As its operation declares it. */
  path: string;
  params: Record<string, unknown>;
  body: Record<string, unknown>;
}

/** What the body becomes; a source that is missing leaves its target out. */
export function mapped(
  integration: Pick<IntegrationDefinition, 'config'> & { typeId: string | null },
  body: unknown,
): MappedCall {
  const { command, mapping, visibility } = integration.config;
  const special = new Map<string, unknown>();
  const fields: [string, unknown][] = [];
  const { needed, possible } = TARGETS[command];
  for (const { source, target } of mapping) {
    const value = valueAt(body, source);
    if (value === undefined) continue;
    if (needed.includes(target) || possible.includes(target)) special.set(target, value);
    else fields.push([target, value]);
  }
  const own = (...names: string[]): Record<string, unknown> =>
    Object.fromEntries(names.flatMap((name) => (special.has(name) ? [[name, special.get(name)]] : [])));
  const values = Object.fromEntries(fields);
  const calls: Record<CommandName, () => MappedCall> = {
    'object.create': () => ({
      method: 'POST',
      path: '/objects',
      params: {},
      body: { typeDefinitionId: integration.typeId, values, ...own('objectId') },
    }),
    'object.update': () => ({
      method: 'PATCH',
      path: '/objects/{objectId}',
      params: own('objectId'),
      body: { ...own('expectedRevision'), changes: values },
    }),
    'comment.add': () => ({
      method: 'POST',
      path: '/objects/{objectId}/comments',
      params: own('objectId'),
      body: { ...(visibility === undefined ? {} : { visibility }), ...own('body', 'visibility') },
    }),
  };
  return calls[command]();
}
