/**
 * A service elsewhere as the target of a command (docs/spec/configuration.md#command-line): over HTTP, with a key that has the
 * scope `admin:manage`. Needs no settings of a service. Messages never contain the key.
 */
import { readFile } from 'node:fs/promises';
import { ConnectionFailed, Docket, DocketError, Forbidden, NotFound, Unauthenticated } from '../../client/src/index.ts';
import type { BundleFile, BundleOptions, PlannedChange, PlannedItem } from '../configuration/engine.ts';
import type { VersionDifference, VersionPage } from '../configuration/store-versions.ts';
import type { Explanation } from '../domain/access/index.ts';
import type { AskedSample, TestAnswer } from '../domain/webhooks/index.ts';
import { VERSION, warn } from './command.ts';
import type {
  ConfigurationTarget,
  ExplainedRequest,
  Exported,
  ExportOptions,
  ImportOutcome,
  ImportRequest,
  PlanWithImpact,
} from './target.ts';

export interface Remote {
  /** Base URL without credentials, query and fragment. */
  url: string;
  key: string;
  /** Where the key came from, for messages. */
  keySource: string;
}

/** How long a call is repeated while the service does not answer, in milliseconds. */
const PATIENCE_MS = 30_000;

type PlanMeta = Partial<Pick<PlanWithImpact, 'impact' | 'configVersion'>>;

export class RemoteTarget implements ConfigurationTarget {
  readonly #remote: Remote;
  readonly #docket: Docket;
  /** Version of the service; undefined before its first answer and for versions that do not tell. */
  #version: string | undefined;
  /** `meta` of the last plan. */
  #planMeta: PlanMeta = {};

  constructor(remote: Remote, patienceMs = PATIENCE_MS) {
    this.#remote = remote;
    this.#docket = new Docket({
      url: remote.url,
      key: remote.key,
      surface: 'admin',
      patience: { totalMs: patienceMs },
      fetch: async (input, init) => {
        // A redirect would turn a POST into a GET, or lead the key elsewhere.
        const response = await fetch(input, { ...init, redirect: 'manual' });
        // The client returns data alone.
        if (response.ok && new URL(response.url).pathname.endsWith('/config/plan')) {
          this.#planMeta = ((await response.clone().json()) as { meta: PlanMeta }).meta;
        }
        this.#version ??= response.headers.get('docket-version') ?? undefined;
        return response;
      },
      onAttempt: ({ attempt, again }) => {
        if (again !== undefined && attempt === 1) {
          warn(`${remote.url} does not answer (${again}); trying for ${patienceMs / 1000} s.`);
        }
      },
    });
  }

  async plan(files: readonly BundleFile[], options: BundleOptions): Promise<PlannedChange[]> {
    const planned = await this.#asked(() => this.#docket.admin.config.plan(bodyOf(files, options)));
    return planned as PlannedChange[];
  }

  async planImpact(files: readonly BundleFile[], options: BundleOptions): Promise<PlanWithImpact> {
    const body = { ...bodyOf(files, options), impact: true };
    const items = (await this.#asked(() => this.#docket.admin.config.plan(body))) as PlannedChange[];
    const { impact, configVersion } = this.#planMeta;
    if (impact === undefined || configVersion === undefined) {
      throw new Error(`${this.#remote.url} does not tell the impact of a plan; it has an older version.`);
    }
    return { items, impact, configVersion };
  }

  async pendingIndexes(): Promise<[]> {
    return [];
  }

  async apply(files: readonly BundleFile[], options: BundleOptions): Promise<PlannedItem[]> {
    const items = await this.#asked(() => this.#docket.admin.config.apply(bodyOf(files, options)));
    return items as PlannedItem[];
  }

  async export({ identity, only }: ExportOptions): Promise<Exported> {
    const query = { identity, ...(only === undefined ? {} : { section: only.join(',') }) };
    return await this.#asked(() => this.#docket.admin.config.export(query));
  }

  async versions(page: number): Promise<VersionPage> {
    return (await this.#asked(() => this.#docket.admin.config.versions({ page }))) as VersionPage;
  }

  async diff(from: number, to: number): Promise<VersionDifference[]> {
    return (await this.#asked(() => this.#docket.admin.config.diff({ from, to }))) as VersionDifference[];
  }

  async exportVersion(version: number): Promise<Exported> {
    return await this.#asked(() => this.#docket.admin.config.version(String(version)));
  }

  async schema(): Promise<string | undefined> {
    try {
      return await (await this.#docket.admin.config.schema()).text();
    } catch (error) {
      // An older service.
      if (error instanceof NotFound) return undefined;
      throw explained(error, this.#remote, this.#versions());
    }
  }

  /** In one request: the service accepts 10 MiB. */
  async importFile({ file, definition, dryRun }: ImportRequest): Promise<ImportOutcome> {
    const bytes = await readFile(file);
    let content: string;
    try {
      content = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    } catch {
      throw new Error('The file is not UTF-8. Save it as UTF-8 and try again.');
    }
    return await this.#asked(() => this.#docket.imports.run({ definitionId: definition, content, dryRun }));
  }

  async explain(request: ExplainedRequest): Promise<Explanation> {
    return (await this.#asked(() => this.#docket.admin.access.explainRequest(request))) as Explanation;
  }

  async testWebhook(subscription: string, asked: AskedSample): Promise<TestAnswer> {
    return await this.#asked(async () => {
      const known = (await this.#docket.webhooks.list()).find(
        ({ id, code }) => code === subscription || id === subscription,
      );
      if (known === undefined) throw new Error(`There is no subscription ${subscription}.`);
      const tested = await this.#docket.admin.webhooks.test(known.id, asked);
      return tested as TestAnswer;
    });
  }

  async close(): Promise<void> {}

  /** Calls the service. @throws Error with a message for the user */
  async #asked<T>(call: () => Promise<T>): Promise<T> {
    try {
      const result = await call();
      if (this.#version !== undefined) this.#warnOfVersion();
      return result;
    } catch (error) {
      throw explained(error, this.#remote, this.#versions());
    }
  }

  #warnOfVersion(): void {
    const differ = this.#versions();
    if (differ !== undefined) warn(differ);
  }

  /** A sentence if service and command have different versions, or that of the service is unknown. */
  #versions(): string | undefined {
    if (this.#version === VERSION) return undefined;
    return `the service is Docket ${this.#version ?? 'of an unknown version'}, this command is ${VERSION}.`;
  }
}

type Body = Parameters<Docket['admin']['config']['apply']>[0];

/** The body of plan and apply. Options that are not set are left out: an older service does not know every one. */
function bodyOf(files: readonly BundleFile[], options: BundleOptions): Body {
  const set = Object.entries(options).filter(([, value]) => value !== undefined && value !== false);
  return { files: [...files], ...(Object.fromEntries(set) as Omit<Body, 'files'>) };
}

/**
 * The same error with what the user can do about it.
 *
 * @param versions a sentence if service and command have different versions
 * @param scope that the key needs
 */
export function explained(
  error: unknown,
  { url, keySource }: Remote,
  versions: string | undefined,
  scope = 'admin:manage',
): unknown {
  const also = (message: string, details: unknown = []): Error => Object.assign(new Error(message), { details });
  if (error instanceof ConnectionFailed) return also(unanswered(error, url));
  if (!(error instanceof DocketError)) return error;
  const { status, code, message, details } = error;
  if (error instanceof Unauthenticated) {
    return also(`${message} The key of ${keySource} is unknown to ${url}, revoked, expired or not allowed from here.`);
  }
  if (error instanceof Forbidden && code === 'SCOPE_MISSING') {
    return also(`${message} Create it with: docket keys create --owner LOGIN --name NAME --scopes ${scope}`);
  }
  if (status >= 300 && status < 400) {
    return also(`${url} answers with a redirect. Give the address of the service itself, for example with https.`);
  }
  if (code.startsWith('HTTP_')) {
    return also(
      `${url} answers with ${status}, and not as a Docket service. Check the address and the proxy before it.`,
    );
  }
  if (status === 413) return also(`${message} Split the file, or run the command where the database is.`);
  const unknown = status === 400 && Array.isArray(details) && details.some((one) => one.code === 'UNKNOWN');
  const other = versions !== undefined && (unknown || error instanceof NotFound);
  return other ? also(`${message} Note: ${versions}`, details) : error;
}

const TLS = /^(?:CERT_|ERR_TLS_|ERR_SSL_|SELF_SIGNED|DEPTH_ZERO|UNABLE_TO_(?:GET|VERIFY)|EPROTO|HOSTNAME_MISMATCH)/;

function unanswered({ cause, attempts }: ConnectionFailed, url: string): string {
  const { message, cause: inner } = cause instanceof Error ? cause : new Error(String(cause));
  const { code = '', message: said = message } = (inner ?? {}) as { code?: string; message?: string };
  const why = code === '' ? said : code;
  if (TLS.test(code)) {
    return `The certificate or the encryption of ${url} is not accepted (${why}). For a private authority, name its certificate in NODE_EXTRA_CA_CERTS.`;
  }
  if (cause instanceof SyntaxError) {
    return `${url} does not answer as a Docket service. Check the address and the proxy before it.`;
  }
  const tries = attempts === 1 ? '' : ` ${attempts} attempts were made.`;
  return `${url} does not answer (${why}). Check the address and that the service runs.${tries}`;
}
