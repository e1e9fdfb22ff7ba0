/** The configuration bundle: plan, apply, export, and the invariants of its stored versions. */
import type { Module } from '../platform/module.ts';
import { bundleRoutes } from './routes.ts';
import { configurationChecks } from './store-versions.ts';

export const configuration: Module = {
  name: 'configuration',
  tables: {
    config_items:
      'Compared with config_item_versions (I13); each change is in the audit log with the whole definition.',
    config_item_versions: 'Its newest rows are compared with config_items (I13); each change is in the audit log.',
    config_versions: 'When and by whom; the audit log has the same.',
    config_ids: 'Ids of the parts of configuration items.',
    type_versions: 'Compiled from the configuration.',
  },
  operations: bundleRoutes,
  checks: configurationChecks,
};
