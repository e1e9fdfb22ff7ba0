import { bind, type Binding } from '../../platform/module.ts';
import { addItem } from '../../configuration/engine.ts';
import { bundleSections } from '../../configuration/sections.ts';
import { createDefinition, previewContent, runContent } from './commands.ts';
import * as contract from './contract.ts';
import { getRun, listDefinitions, listRuns } from './queries.ts';
import { undoRun } from './undo.ts';

export const importRoutes: readonly Binding[] = [
  bind(contract.createDefinition, (ctx, { body }, _request, { get }) =>
    createDefinition(ctx, body, (unit, item) => addItem(unit, get(bundleSections), 'importDefinitions', item)),
  ),
  bind(contract.listDefinitions, (ctx) => listDefinitions(ctx)),
  bind(contract.runImport, (runner, { body }, _request, service) => runContent(runner, body, service)),
  bind(contract.getRun, (ctx, { params }) => getRun(ctx, params.runId)),
  bind(contract.listRuns, (ctx, { query }) => listRuns(ctx, query)),
  bind(contract.preview, (runner, { body }) => previewContent(runner, body)),
  bind(contract.undo, (runner, { params }, _request, service) => undoRun(runner, params.runId, service)),
];
