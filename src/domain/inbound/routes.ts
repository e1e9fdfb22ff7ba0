import { statusOf } from '../../lib/fault-codes.ts';
import { type BoundOperation, bind } from '../../platform/unit-of-work/binding.ts';
import * as commands from './commands.ts';
import * as contract from './contract.ts';
import type { IntegrationDefinition } from './registry.ts';
import { listIntegrations, listRuns } from './queries.ts';
import { commandsOf, type InputReader, replayInbound, runInbound, tryInbound } from './run.ts';

/** @param reader validates a request to an operation; calls are validated as such requests */
export function inboundRoutes(reader: InputReader): BoundOperation[] {
  const apiCommands = commandsOf(reader);
  return [
    bind(contract.listIntegrations, (ctx) => listIntegrations(ctx)),
    bind(contract.createIntegration, (ctx, { body }) =>
      commands.createIntegration(ctx, { ...body, config: body.config as IntegrationDefinition['config'] }),
    ),
    bind(contract.changeIntegration, (ctx, { params, body }) =>
      commands.changeIntegration(ctx, params.id, body as Partial<commands.IntegrationInput>),
    ),
    bind(contract.enableIntegration, (ctx, { params }) => commands.switchIntegration(ctx, params.id, 'enable')),
    bind(contract.disableIntegration, (ctx, { params }) => commands.switchIntegration(ctx, params.id, 'disable')),
    bind(contract.archiveIntegration, (ctx, { params }) => commands.switchIntegration(ctx, params.id, 'archive')),
    bind(contract.restoreIntegration, (ctx, { params }) => commands.restoreIntegration(ctx, params.id)),
    bind(contract.listRuns, (ctx, { params, query }) => listRuns(ctx, params.id, query.status)),
    bind(contract.tryIntegration, (runner, { params, body }) =>
      tryInbound(runner, apiCommands, statusOf, params.id, body.body),
    ),
    bind(
      contract.runInbound,
      (runner, { params, body }) => runInbound(runner, apiCommands, params.integrationId, body),
      replayInbound,
    ),
  ];
}
