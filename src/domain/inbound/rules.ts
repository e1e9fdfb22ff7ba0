/**
 * Maps the body of a call to the request of the command's API operation
 * (docs/spec/webhooks-and-inbound.md#inbound-integrations). Pure.
 */
import type { CommandName, IntegrationDefinition } from './definitions.ts';

/** Inputs of each command that are not fields: required ones and optional ones. */
export const TARGETS: Readonly<
  Record<CommandName, { needed: readonly string[]; possible: readonly string[]; fields: boolean }>
> = {
  'object.create': { needed: [], possible: ['objectId'], fields: true },
  'object.update': { needed: ['objectId', 'expectedRevision'], possible: [], fields: true },
  'comment.add': { needed: ['objectId', 'body'], possible: ['visibility'], fields: false },
};

const INDEX = /^(?:0|[1-9]\d{0,8})$/;

/**
 * The value at a dotted path, own properties only: `alert.labels.host`, `items.0.name`.
 *
 * @returns undefined if there is none; null is a value
 */
export function valueAt(body: unknown, path: string): unknown {
  let at = body;
  for (const step of path.split('.')) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, step)) return undefined;
    // Of an array only elements count: `length` is an own property, too.
    if (Array.isArray(at) && !INDEX.test(step)) return undefined;
    at = Reflect.get(at, step);
  }
  return at;
}

/** The request to the command's API operation that a body is mapped to. */
export interface MappedCall {
  method: 'POST' | 'PATCH';
  /** The path as its operation declares it. */
  path: string;
  params: Record<string, unknown>;
  body: Record<string, unknown>;
}

/** Maps the body. A missing source leaves its target out. */
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
