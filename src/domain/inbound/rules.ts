/**
 * Maps the body of a call to the request of the command's API operation
 * (docs/spec/webhooks-and-inbound.md#inbound-integrations). Pure.
 */
import { valueAtPath } from '../../lib/mapping.ts';
import { type CommandName, type IntegrationDefinition, TARGETS } from './registry.ts';

/** The request to the command's API operation that a body is mapped to. */
export interface MappedCall {
  method: 'POST' | 'PATCH';
  /** The path as its operation declares it. */
  path: string;
  params: Record<string, unknown>;
  body: Record<string, unknown>;
}

/** Maps the body. A missing source leaves its target out. */
export function mapCall(
  integration: Pick<IntegrationDefinition, 'config'> & { typeId: string | null },
  body: unknown,
): MappedCall {
  const { command, mapping, visibility } = integration.config;
  const special = new Map<string, unknown>();
  const fields: [string, unknown][] = [];
  const { needed, either, possible } = TARGETS[command];
  const known = new Set([...needed, ...either, ...possible]);
  for (const { source, target } of mapping) {
    const value = valueAtPath(body, source);
    if (value === undefined) continue;
    if (known.has(target)) special.set(target, value);
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
      params: special.has('objectId') ? own('objectId') : own('number'),
      body: { ...(visibility === undefined ? {} : { visibility }), ...own('body', 'visibility') },
    }),
  };
  return calls[command]();
}
