import { addItem } from '../../configuration/engine.ts';
import { bundleSections } from '../../configuration/sections.ts';
import { bindWith, type UnboundOperation } from '../../platform/module.ts';
import { type BoundOperation, bind } from '../../platform/unit-of-work/binding.ts';
import { type AddItem, createDefinition, previewContent, runContent } from './commands.ts';
import * as contract from './contract.ts';
import { getRun, listDefinitions, listRuns } from './queries.ts';
import { undoRun } from './undo.ts';

export const importRoutes: readonly (BoundOperation | UnboundOperation)[] = [
  bindWith(contract.createDefinition, (service) => {
    const add: AddItem = (ctx, item) => addItem(ctx, service.get(bundleSections), 'importDefinitions', item);
    return (ctx, { body }) => createDefinition(ctx, body, add);
  }),
  bind(contract.listDefinitions, (ctx) => listDefinitions(ctx)),
  bindWith(
    contract.runImport,
    (service) =>
      (runner, { body }) =>
        runContent(runner, body, service),
  ),
  bind(contract.getRun, (ctx, { params }) => getRun(ctx, params.runId)),
  bind(contract.listRuns, (ctx, { query }) => listRuns(ctx, query)),
  bind(contract.preview, (runner, { body }) => previewContent(runner, body)),
  bindWith(
    contract.undo,
    (service) =>
      (runner, { params }) =>
        undoRun(runner, params.runId, service),
  ),
];
