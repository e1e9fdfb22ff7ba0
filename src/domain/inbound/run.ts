/**
 * Inbound calls (docs/spec/webhooks-and-inbound.md#inbound-integrations). A body is mapped to a request of the command's API
 * operation. The request is validated like that operation's requests and runs its command with the rights of the key's owner.
 * The result of each call is logged.
 */
import { isArchived } from '../../contract/state.ts';
import { contractDetails, Fault, faultAt, isFault } from '../../lib/fault.ts';
import type { InputReader } from '../../platform/module.ts';
import type { Runner } from '../../platform/unit-of-work/binding.ts';
import type { ReadContext, WriteContext } from '../../platform/unit-of-work/context.ts';
import { addCommentWithFiles } from '../attachments/index.ts';
import { addOperation, replayComment } from '../comments/index.ts';
import {
  createObject,
  createOperation,
  idOfNumber,
  replayObject,
  updateObject,
  updateOperation,
} from '../objects/index.ts';
import { type CommandName, type Integration, integrations } from './registry.ts';
import { noIntegration, RIGHT } from './queries.ts';
import { type MappedCall, mapCall } from './rules.ts';
import { insertRun, type RunError, type RunStatus } from './store.ts';

/** A validated request to a command's API operation. */
type Ready = (ctx: WriteContext) => Promise<unknown>;
export type Commands = Readonly<Record<CommandName, (call: MappedCall) => Ready>>;

function objectIdOf({ params }: MappedCall): Record<string, string> {
  const { objectId } = params;
  if (objectId === undefined) {
    throw faultAt('INVALID_REQUEST', '/objectId', 'OBJECT_ID_MISSING');
  }
  // A value that is not text cannot be an id. It gets the answer for an unknown id.
  return { objectId: typeof objectId === 'string' ? objectId : '' };
}

/** The id of no record: an unknown number gets the answer for an unknown id. */
const NO_RECORD = '00000000-0000-0000-0000-000000000000';

/** The three commands, each with the validation of its API operation. */
export function commandsOf(reader: InputReader): Commands {
  const create = reader(createOperation);
  const update = reader(updateOperation);
  const add = reader(addOperation);
  return {
    'object.create': (call) => {
      const { body } = create({}, call.body);
      return (ctx) => createObject(ctx, body);
    },
    'object.update': (call) => {
      const { params, body } = update(objectIdOf(call), call.body);
      return (ctx) => updateObject(ctx, { ...params, ...body });
    },
    'comment.add': (call) => {
      const { number } = call.params;
      const { params, body } = add(number === undefined ? objectIdOf(call) : { objectId: NO_RECORD }, call.body);
      return async (ctx) => {
        const found = typeof number === 'string' ? await idOfNumber(ctx, number) : undefined;
        return await addCommentWithFiles(ctx, {
          ...params,
          ...(found === undefined ? {} : { objectId: found }),
          ...body,
        });
      };
    },
  };
}

/**
 * Runs the integration's command on the body.
 *
 * @throws Fault NOT_FOUND (no such integration), INTEGRATION_DISABLED, and all errors of the command's API operation
 */
export async function runInbound(runner: Runner, commands: Commands, id: string, body: unknown): Promise<unknown> {
  const integration = integrations(runner.caller).get(id);
  if (integration === undefined) throw noIntegration();
  try {
    if (isArchived(integration) || !integration.enabled) {
      throw new Fault('INTEGRATION_DISABLED', 'The integration is disabled. Ask an administrator to enable it.');
    }
    const run = commands[integration.config.command](mapCall(integration, body));
    return await runner.write(async (ctx) => {
      const data = await run(ctx);
      logCall(ctx, integration, 'SUCCEEDED', resultIds(integration, data), null);
      return data;
    });
  } catch (error) {
    await logFailure(runner, integration, error);
    throw error;
  }
}

function resultIds({ config }: Integration, data: unknown): { objectId: string | null; commentId: string | null } {
  const { id, objectId } = data as { id: string; objectId?: string };
  return config.command === 'comment.add'
    ? { objectId: objectId ?? null, commentId: id }
    : { objectId: id, commentId: null };
}

function logCall(
  ctx: WriteContext,
  integration: Integration,
  status: RunStatus,
  about: { objectId: string | null; commentId: string | null },
  error: RunError | null,
): void {
  ctx.plan(insertRun, {
    id: ctx.newId(),
    integrationId: integration.id,
    at: ctx.now,
    command: integration.config.command,
    status,
    objectId: about.objectId,
    commentId: about.commentId,
    ownerId: ctx.actor.userId,
    keyId: ctx.keyId,
    correlationId: ctx.correlationId,
    error,
  });
}

/**
 * Logs in a transaction of its own, since that of the call is rolled back. An error while logging does not replace the answer.
 */
async function logFailure(runner: Runner, integration: Integration, error: unknown): Promise<void> {
  const nothing = { objectId: null, commentId: null };
  try {
    await runner.work.write(runner.caller, async (ctx) =>
      logCall(ctx, integration, 'FAILED', nothing, reasonOf(error)),
    );
  } catch {
    // The database is not available; the caller gets this error already.
  }
}

const MAX_DETAILS = 20;

/**
 * The reason as shown to administrators. It omits the changes of other users, since the administrator may not be allowed to
 * read the record.
 */
function reasonOf(error: unknown): RunError {
  if (!isFault(error)) {
    return { code: 'INTERNAL', message: 'The service failed. Report the correlation id to its operator.', details: [] };
  }
  const { code, message, details } = error;
  if (Array.isArray(details)) return { code, message, details: contractDetails(details.slice(0, MAX_DETAILS)) };
  const { changedSince: _hidden, complete: _all, ...rest } = details;
  return { code, message, details: rest };
}

/** Returns a stored answer, projected again like the answer of its API operation. */
export async function replayInbound(ctx: ReadContext, data: unknown): Promise<unknown> {
  return Object.hasOwn(data as object, 'typeDefinitionId')
    ? await replayObject(ctx, data)
    : await replayComment(ctx, data);
}

export interface TryAnswer {
  command: string;
  request: MappedCall;
  status: number;
  data: unknown;
  error: RunError | null;
}

/**
 * Shows how a body is mapped and what the command would answer to the caller. Rolls everything back and logs nothing. Works for
 * disabled integrations, too.
 *
 * @throws Fault RIGHT_MISSING, NOT_FOUND
 */
export async function tryInbound(
  runner: Runner,
  commands: Commands,
  statusOf: (code: string) => number | undefined,
  id: string,
  body: unknown,
): Promise<TryAnswer> {
  const { work, caller } = runner;
  caller.actor.require(RIGHT);
  const integration = integrations(caller).get(id);
  if (integration === undefined) throw noIntegration();
  const request = mapCall(integration, body);
  const { command } = integration.config;
  try {
    const run = commands[command](request);
    const result = await work.dryRun((units) => units.write({ ...caller, via: 'inbound' }, run));
    const data = result.kind === 'done' ? result.data : result.answer.data;
    return { command, request, status: 201, data, error: null };
  } catch (error) {
    if (!isFault(error)) throw error;
    const { code, message, details } = error;
    const status = statusOf(code) ?? 500;
    if (status >= 500) throw error;
    return { command, request, status, data: null, error: { code, message, details } };
  }
}
