/** The service of the settings as the target of a command: through its database, as the system user. */
import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { bundleSchemaText } from '../configuration/bundle-schema.ts';
import {
  applyBundle,
  type BundleFile,
  type BundleOptions,
  exportBundle,
  type ExportScope,
  planChanges,
  type PlannedChange,
  type PlannedItem,
} from '../configuration/engine.ts';
import { pendingFieldIndexes, type PendingIndex } from '../configuration/field-indexes.ts';
import type { ConfigSection } from '../configuration/section.ts';
import { impactOfPlans } from '../configuration/sections.ts';
import {
  diffVersions,
  listVersions,
  type VersionDifference,
  type VersionPage,
} from '../configuration/store-versions.ts';
import { explainParts, explainRequest, type Explanation, ownFieldView } from '../domain/access/index.ts';
import { type Content, importFile } from '../domain/imports/index.ts';
import { registry } from '../domain/metadata/index.ts';
import { type AskedSample, sampleMessage, type TestAnswer, testSubscription } from '../domain/webhooks/index.ts';
import { isFault } from '../lib/fault.ts';
import { type SessionLock, trySessionLock } from '../platform/database/session-lock.ts';
import { toFault } from '../platform/database/sqlstate.ts';
import { Outbound } from '../platform/outbound/outbound.ts';
import type { Runner } from '../platform/unit-of-work/binding.ts';
import type { ReadContext, WriteContext } from '../platform/unit-of-work/context.ts';
import type { Settings } from '../settings.ts';
import { requireMasterKey } from './master-key.ts';
import { openTool, type Tool } from './service.ts';
import type {
  ConfigurationTarget,
  ExplainedRequest,
  Exported,
  ImportOutcome,
  ImportRequest,
  PlanWithImpact,
} from './target.ts';

export class LocalTarget implements ConfigurationTarget {
  readonly #tool: Tool;
  readonly #settings: Settings;

  private constructor(tool: Tool, settings: Settings) {
    this.#tool = tool;
    this.#settings = settings;
  }

  static async open(settings: Settings): Promise<LocalTarget> {
    return new LocalTarget(await openTool(settings, () => {}), settings);
  }

  async plan(files: readonly BundleFile[], options: BundleOptions): Promise<PlannedChange[]> {
    return (await planChanges(this.#tool, this.#tool.sections, files, options)).items;
  }

  async planImpact(files: readonly BundleFile[], options: BundleOptions): Promise<PlanWithImpact> {
    const parts = this.#tool.connect(false).get(impactOfPlans);
    const { impact, ...planned } = await planChanges(this.#tool, this.#tool.sections, files, options, parts);
    if (impact === undefined) throw new Error('the plan has no impact');
    return { ...planned, impact };
  }

  async pendingIndexes(): Promise<PendingIndex[]> {
    return await pendingIndexes(this.#tool);
  }

  async apply(files: readonly BundleFile[], options: BundleOptions): Promise<PlannedItem[]> {
    return await applyFiles(this.#tool, files, options);
  }

  async export(options: ExportScope): Promise<Exported> {
    return { files: await this.#read((ctx, sections) => exportBundle(ctx, sections, options)), leftOut: [] };
  }

  async versions(page: number): Promise<VersionPage> {
    return await this.#read((ctx, sections) => listVersions(ctx, sections, { page, pageSize: 25 }));
  }

  async diff(from: number, to: number): Promise<VersionDifference[]> {
    return await this.#read((ctx, sections) => diffVersions(ctx, sections, { from, to }));
  }

  async exportVersion(version: number): Promise<Exported> {
    return await this.export({ identity: false, version });
  }

  async #read<T>(fn: (ctx: ReadContext, sections: readonly ConfigSection[]) => Promise<T>): Promise<T> {
    const { work, caller, sections } = this.#tool;
    return await work.read(caller, (ctx) => fn(ctx, sections), { snapshot: true });
  }

  async schema(): Promise<string> {
    return bundleSchemaText(this.#tool.sections);
  }

  /** Streams a file of any size. An interrupted import resumes when it is repeated. Rules react if the definition says so. */
  async importFile({ file, definition, dryRun, onProgress }: ImportRequest): Promise<ImportOutcome> {
    const { db, connect, caller } = this.#tool;
    const sha256 = await sha256Of(file);
    const { work, system } = connect(true);
    let lock: SessionLock | undefined;
    try {
      return await importFile({
        work,
        caller,
        parts: { freshCaller: () => patiently(system) },
        definition,
        content: contentOf(file),
        file: { name: path.basename(file), sha256 },
        dryRun,
        exclusive: async (name) => {
          const before = lock;
          lock = undefined;
          await before?.release();
          lock = await trySessionLock(db, name).catch((error: unknown) => {
            throw toFault(error);
          });
          return lock !== undefined;
        },
        onProgress,
      });
    } finally {
      await lock?.release();
    }
  }

  async explain(request: ExplainedRequest): Promise<Explanation> {
    return await explainRequest(
      this.#runner(),
      request,
      { waiter: { callerId: 'command line', isGone: () => false, rest: () => {} } },
      explainParts(this.#tool.connect(false)),
    );
  }

  /** Sends as the service does: under the rule on addresses. */
  async testWebhook(subscription: string, asked: AskedSample): Promise<TestAnswer> {
    const secrets = await requireMasterKey(this.#settings, this.#tool.db);
    const outbound = new Outbound({ allowPrivate: this.#settings.webhookAllowPrivate });
    try {
      return await testSubscription(
        this.#runner(),
        { secrets, outbound, messageOf: this.#tool.connect(false).get(sampleMessage) },
        subscription,
        asked,
      );
    } finally {
      await outbound.close();
    }
  }

  #runner(): Runner {
    const { work, caller } = this.#tool;
    const write = async <T>(fn: (ctx: WriteContext) => Promise<T>): Promise<T> => {
      const result = await work.write(caller, fn);
      if (result.kind !== 'done') throw new Error('a command without an idempotency key cannot be a replay');
      return result.data;
    };
    return { work, caller, write };
  }

  async close(): Promise<void> {
    await this.#tool.close();
  }
}

/** Applies a bundle in one transaction. @throws BundleError, Fault */
export async function applyFiles(
  { work, caller, sections }: Pick<Tool, 'work' | 'caller' | 'sections'>,
  files: readonly BundleFile[],
  options: BundleOptions,
): Promise<PlannedItem[]> {
  const result = await work.write(caller, (ctx) => applyBundle(ctx, sections, files, options));
  if (result.kind !== 'done') throw new Error('an apply cannot be a replay');
  return result.data;
}

export async function pendingIndexes({ db, caller }: Tool): Promise<PendingIndex[]> {
  return await pendingFieldIndexes(db, registry(caller), caller.config.get(ownFieldView));
}

const CHUNK = 65_536;

/** The bytes of a file. All chunks use the same buffer: a chunk is valid only until the next is requested. */
async function* bytesOf(file: string): AsyncGenerator<Buffer> {
  const handle = await open(file, 'r');
  try {
    const buffer = Buffer.allocUnsafe(CHUNK);
    for (;;) {
      const { bytesRead } = await handle.read(buffer, 0, CHUNK);
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await handle.close();
  }
}

/** The text of a file; each call starts from the beginning. */
function contentOf(file: string): Content {
  return async function* () {
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
    let read = 0;
    for await (const bytes of bytesOf(file)) {
      yield decoded(decoder, bytes, read);
      read += bytes.length;
    }
    yield decoded(decoder, undefined, read);
  };
}

function decoded(decoder: TextDecoder, bytes: Buffer | undefined, at: number): string {
  try {
    return bytes === undefined ? decoder.decode() : decoder.decode(bytes, { stream: true });
  } catch {
    throw new Error(`The file is not UTF-8: near byte ${at}. Save it as UTF-8 and try again.`);
  }
}

async function sha256Of(file: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const bytes of bytesOf(file)) hash.update(bytes);
  return hash.digest('hex');
}

/**
 * Retries while the database is unavailable. A service rejects a request at once, but a short interruption must not end an
 * import of hours.
 *
 * @throws Fault DATABASE_UNAVAILABLE if it stays unavailable for `patienceMs`
 */
export async function patiently<T>(ask: () => Promise<T>, patienceMs = 60_000, againMs = 200): Promise<T> {
  const until = performance.now() + patienceMs;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!isFault(error) || error.code !== 'DATABASE_UNAVAILABLE' || performance.now() > until) throw error;
      await sleep(againMs);
    }
  }
}
