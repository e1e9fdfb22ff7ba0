import { type BoundOperation, bind } from '../../platform/unit-of-work/binding.ts';
import { type AddItem, createDefinition, previewContent, runContent } from './commands.ts';
import * as contract from './contract.ts';
import { getRun, listDefinitions, listRuns } from './queries.ts';
import type { ImportParts } from './run.ts';
import { undoRun } from './undo.ts';

export function importRoutes(parts: ImportParts, add: AddItem): BoundOperation[] {
  return [
    bind(contract.createDefinition, (ctx, { body }) => createDefinition(ctx, body, add)),
    bind(contract.listDefinitions, (ctx) => listDefinitions(ctx)),
    bind(contract.runImport, (runner, { body }) => runContent(runner, body, parts)),
    bind(contract.getRun, (ctx, { params }) => getRun(ctx, params.runId)),
    bind(contract.listRuns, (ctx, { query }) => listRuns(ctx, query)),
    bind(contract.preview, (runner, { body }) => previewContent(runner, body)),
    bind(contract.undo, (runner, { params }) => undoRun(runner, params.runId, parts)),
  ];
}
