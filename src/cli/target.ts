/**
 * The service that a command works on: the one of the settings, through its database, or one elsewhere, over HTTP. Commands
 * read files and print results; only the implementations differ.
 */
import type { BundleFile, BundleOptions, PlannedChange, PlannedItem } from '../configuration/engine.ts';
import type { Impact } from '../configuration/impact.ts';
import type { PendingIndex } from '../configuration/field-indexes.ts';
import type { Explanation } from '../domain/access/index.ts';
import type { AskedSample, TestAnswer } from '../domain/webhooks/index.ts';
import type { VersionDifference, VersionPage } from '../configuration/store-versions.ts';

export interface ImportRequest {
  /** Path of the file. */
  file: string;
  /** Code or id of the import definition. */
  definition: string;
  dryRun: boolean;
  onProgress(progress: { done: number; total: number | null }): void;
}

/** The run of an import, as `GET /import-runs/{runId}` gives it. */
export interface ImportOutcome {
  id: string;
  dryRun: boolean;
  /** True if an interrupted run was continued. */
  resumed?: boolean;
  total: number;
  succeeded: number;
  skipped: number;
  failed: number;
  rows: readonly { row: number; status: string; errors: readonly { path: string; message: string }[] }[];
}

/** A request to explain, as the body of `POST /access/explain-request`. */
export interface ExplainedRequest {
  /** Id or login. */
  user: string;
  method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  path: string;
  body?: unknown;
}

export interface PlanWithImpact {
  items: PlannedChange[];
  impact: Impact;
  configVersion: number;
}

export interface ExportOptions {
  identity: boolean;
  /** Keys of the sections to export; all if absent. */
  only?: readonly string[] | undefined;
}

export interface Exported {
  files: BundleFile[];
  leftOut: readonly string[];
}

/** Every operation throws an error with a message for the user. */
export interface ConfigurationTarget {
  plan(files: readonly BundleFile[], options: BundleOptions): Promise<PlannedChange[]>;
  /** The plan with its impact. @throws Error if the service does not tell the impact */
  planImpact(files: readonly BundleFile[], options: BundleOptions): Promise<PlanWithImpact>;
  /** Indexes of filterable fields that are not built yet; empty where the target does not tell. */
  pendingIndexes(): Promise<readonly PendingIndex[]>;
  apply(files: readonly BundleFile[], options: BundleOptions): Promise<PlannedItem[]>;
  /** `leftOut` names the sections that the caller may not read. */
  /** The JSON Schema of the bundle, as the text of a file; undefined if the service has none. */
  schema(): Promise<string | undefined>;
  export(options: ExportOptions): Promise<Exported>;
  /** A page of 25 versions of the configuration, newest first. */
  versions(page: number): Promise<VersionPage>;
  diff(from: number, to: number): Promise<readonly VersionDifference[]>;
  exportVersion(version: number): Promise<Exported>;
  importFile(request: ImportRequest): Promise<ImportOutcome>;
  explain(request: ExplainedRequest): Promise<Explanation>;
  /** Sends a sample delivery. @param subscription code or id */
  testWebhook(subscription: string, asked: AskedSample): Promise<TestAnswer>;
  close(): Promise<void>;
}
