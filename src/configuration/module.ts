/** The configuration bundle: plan, apply, export, and the invariants of its stored versions. */
import type { Module } from '../platform/module.ts';
import { bundleRoutes } from './routes.ts';
import { configurationChecks } from './store-versions.ts';

export const configuration: Module = { name: 'configuration', operations: bundleRoutes, checks: configurationChecks };
