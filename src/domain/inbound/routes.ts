import { bind, type Binding, inputReader, ServicePart } from '../../platform/module.ts';
import { statusOf } from '../../lib/fault-codes.ts';
import * as commands from './commands.ts';
import * as contract from './contract.ts';
import type { IntegrationDefinition } from './registry.ts';
import { listIntegrations, listRuns } from './queries.ts';
import { commandsOf, replayInbound, runInbound, tryInbound } from './run.ts';

/** The commands of the API, with the validation of their requests. */
const apiCommands = new ServicePart('the commands of inbound calls', (service) => commandsOf(service.get(inputReader)));

export const inboundRoutes: readonly Binding[] = [
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
  bind(contract.tryIntegration, (runner, { params, body }, _request, service) =>
    tryInbound(runner, service.get(apiCommands), statusOf, params.id, body.body),
  ),
  bind(
    contract.runInbound,
    (runner, { params, body }, _request, service) =>
      runInbound(runner, service.get(apiCommands), params.integrationId, body),
    replayInbound,
  ),
];
