/**
 * A module is a value: it declares everything that it contributes to the service. `src/modules.ts` lists the modules, and
 * `connect` makes one service of them. How to write one: docs/how-to/write-a-module.md.
 */
import type { DescribedEvent } from '../contract/openapi-events.ts';
import type { Input, Operation } from '../contract/operation.ts';
import type { DkimKey, SmtpServer } from '../lib/smtp-url.ts';
import type { Check } from './audit/checks.ts';
import type { BackupSources } from './backup/dump.ts';
import type { BlobUse } from './blobs/register.ts';
import type { ContentHolder } from './blobs/serve.ts';
import type { BlobStore } from './blobs/store.ts';
import type { Clock } from './clock.ts';
import type { Database } from './database/pool.ts';
import type { Replica } from './database/replica.ts';
import type { ConstraintMeaning } from './database/sqlstate.ts';
import type { Moment } from './moments.ts';
import type { DatabaseMetric } from './observability/database-metrics.ts';
import type { Gauge } from './observability/gauges.ts';
import type { Outages } from './observability/outages.ts';
import type { Outbound, OutboundOptions } from './outbound/outbound.ts';
import type { SecretBox } from './secrets.ts';
import type { Task } from './tasks.ts';
import type {
  BoundOperation,
  ContextOf,
  DescribedRequest,
  EffectsOf,
  FoundRequest,
  RedirectPage,
  RequestFacts,
} from './unit-of-work/binding.ts';
import type { Changes } from './unit-of-work/changes.ts';
import type { Actor, Caller, Follower, Reaction, ReadContext } from './unit-of-work/context.ts';
import type { ItemLookup } from './unit-of-work/idempotency.ts';
import type { ConfigSnapshot } from './unit-of-work/snapshot.ts';
import type { VersionWatcher } from './unit-of-work/versions.ts';
import { Work } from './unit-of-work/work.ts';

/**
 * What the rows of a table are. A sentence says why `docket doctor --deep` does not compare them with the history, and what else
 * guards them; `replayed`: it compares every column, except those that `except` gives a reason for.
 */
export type TableFacts =
  | string
  | { readonly rows: string; readonly replayed: true; readonly except?: Readonly<Record<string, string>> };

export interface Module {
  readonly name: string;
  /** The domain modules whose `index.ts` it imports. The architecture test holds it against the imports. */
  readonly dependsOn?: readonly string[];
  /** Its own tables, which no other module writes, and what the history has of their rows. */
  readonly tables?: Readonly<Record<string, TableFacts>>;
  /** In the order of the documentation. */
  readonly operations?: readonly Binding[];
  /** Webhook events, for the documentation. */
  readonly events?: readonly DescribedEvent[];
  /** Background tasks. */
  tasks?(service: Service): readonly Task[];
  /** When tasks are due. */
  readonly moments?: readonly Moment[];
  /** Modules that react to events of other modules in the same unit of work. */
  followers?(service: Service): readonly Follower[];
  /** What runs commands on the events of a unit of work. One module has it. */
  reaction?(service: Service): Reaction;
  /** Invariants of the stored data (`docket doctor --deep`). */
  readonly checks?: readonly Check[];
  /** Metrics computed from the database. */
  readonly metrics?: readonly DatabaseMetric[];
  /** Metrics of this process; read at each scrape. */
  gauges?(service: Service): readonly Gauge[];
  /** Unique constraints that a client can violate, and the resulting fault. */
  readonly constraints?: Readonly<Record<string, ConstraintMeaning>>;
  /** References to content in the blob store. Content without any reference is deleted. */
  readonly blobUses?: readonly BlobUse[];
  /** Tables with transaction ids, which differ in the database that a backup is restored to: how their rows are backed up. */
  readonly backup?: BackupSources;
  /** Pages outside the operations that only redirect the browser. */
  pages?(service: Service): readonly RedirectPage[];
  /** Parts of other modules that this one makes. */
  readonly provides?: readonly Provided[];
  /** Additions to lists of other modules. */
  readonly adds?: readonly Added[];
  /** True while other processes must learn of each change at once. */
  isUrgent?(config: ConfigSnapshot): boolean;
  /** Called with each new configuration before it is used, for example to create what it needs in the database. */
  prepare?(db: Database, config: ConfigSnapshot): Promise<void>;
  /** Called when the service is built. */
  start?(service: Service): Promise<void>;
  stop?(service: Service): Promise<void>;
}

/** An operation with its handler. */
export interface Binding {
  readonly operation: Operation;
  bound(service: Service): BoundOperation;
}

/**
 * Binds one operation to its handler. The handler's types are derived from the declaration.
 *
 * @param replay projects a stored response again with the caller's current rights
 * @param item finds the item that a stored response is about, in the statement that finds the response
 */
export function bind<const O extends Operation>(
  operation: O,
  run: (context: ContextOf<O>, input: Input<O>, request: RequestFacts, service: Service) => Promise<unknown>,
  replay?: (context: ReadContext, data: unknown, item: object | undefined, service: Service) => Promise<unknown>,
  item?: ItemLookup,
): Binding {
  const handle = run as unknown as (
    ...given: [...Parameters<BoundOperation['run']>, service: Service]
  ) => Promise<unknown>;
  return {
    operation,
    bound: (service) => ({
      operation,
      run: (context, input, request) => handle(context, input, request, service),
      replay: replay && ((context, data, stored) => replay(context, data, stored, service)),
      item,
    }),
  };
}

/** Something that is made once in a service: by the module that declares it, or by another one, which knows how. */
export class ServicePart<T> {
  readonly name: string;
  readonly make: ((service: Service) => T) | undefined;

  constructor(name: string, make?: (service: Service) => T) {
    this.name = name;
    this.make = make;
  }

  by(make: (service: Service) => T): Provided {
    return { part: this, make };
  }
}

export interface Provided {
  readonly part: ServicePart<unknown>;
  make(service: Service): unknown;
}

/** A list that one module declares and others add to. */
export class List<T> {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }

  with(items: readonly T[]): Added {
    return { list: this, items };
  }

  /** All items, in the order of the modules. */
  of(modules: readonly Module[]): readonly T[] {
    return modules.flatMap(({ adds = [] }) => adds.flatMap(({ list, items }) => (list === this ? (items as T[]) : [])));
  }
}

export interface Added {
  readonly list: List<unknown>;
  readonly items: readonly unknown[];
}

/** What all modules contribute of one kind, in their order. */
export function collect<const K extends 'events' | 'moments' | 'checks' | 'metrics' | 'blobUses'>(
  modules: readonly Module[],
  kind: K,
): NonNullable<Module[K]>[number][] {
  return modules.flatMap((module) => (module[kind] ?? []) as NonNullable<Module[K]>[number][]);
}

/** The declarations of all operations, in the order of the documentation. */
export function operationsOf(modules: readonly Module[]): Operation[] {
  return modules.flatMap(({ operations = [] }) => operations.map(({ operation }) => operation));
}

export function backupSources(modules: readonly Module[]): BackupSources {
  return Object.assign({}, ...modules.map(({ backup }) => backup));
}

/** Users as callers. The module that knows their rights provides them. */
export interface People {
  /** The rights of an ACTIVE user, for actions on their behalf; undefined for all others. */
  actorOf(userId: string): Promise<Actor | undefined>;
  /** The rights of the ACTIVE users among these, by id. */
  actorsOf(userIds: readonly string[]): Promise<ReadonlyMap<string, Actor>>;
  anonymousActor(): Actor;
  /** The system user as a caller, with the given configuration. */
  systemCaller(config: ConfigSnapshot): Caller;
}

export const people = new ServicePart<People>('the users as callers');

/** What a dry run would have done. */
export const dryRunEffects = new ServicePart<EffectsOf>('the effects of dry runs');

/** Finds the operation of a request that is described as data. */
export const describedRequests = new ServicePart<(request: DescribedRequest) => FoundRequest>('described requests');

/** Makes the validation of an operation's requests. */
export type InputReader = <const O extends Operation>(
  operation: O,
) => (params: Record<string, string>, body: unknown) => Input<O>;

export const inputReader = new ServicePart<InputReader>('the validation of requests');

/** The settings that modules read. */
export interface ServiceSettings {
  readonly oidc?:
    | { readonly issuer: string; readonly clientId: string; readonly clientSecret: string | undefined }
    | undefined;
  readonly smtp?: SmtpServer | undefined;
  readonly dkim?: DkimKey | undefined;
  readonly publicUrl?: string | undefined;
  readonly imapAllowPrivate?: boolean | undefined;
  readonly auditHeads?: string | undefined;
}

interface Log {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

/** What the composition gives. */
export interface Adapters {
  readonly db: Database;
  readonly clock: Clock;
  readonly blobs: BlobStore;
  /** Content of files that answers hold in memory. */
  readonly holder: ContentHolder;
  readonly secrets: SecretBox;
  readonly outbound: Outbound;
  /** Overrides of the settings of outbound calls, for tests. */
  readonly outboundOptions?: Partial<OutboundOptions> | undefined;
  readonly settings: ServiceSettings;
  readonly versions: VersionWatcher;
  readonly replica?: Replica | undefined;
  /** Tells that changes were committed. */
  readonly changes: Pick<Changes, 'listen'>;
  readonly log: Log;
  /** Reports of repeated work that fails. */
  readonly outages: Pick<Outages, 'failed' | 'succeeded' | 'failures'>;
  /** Has a background task of this process run soon. */
  wake(task: string): void;
}

/** What the handlers, followers and tasks of modules may use. */
export interface Service extends Adapters {
  readonly modules: readonly Module[];
  readonly work: Work;
  /** The operations with their handlers. */
  readonly operations: readonly BoundOperation[];
  get<T>(part: ServicePart<T>): T;
  readonly actorOf: People['actorOf'];
  readonly actorsOf: People['actorsOf'];
  /** The same caller with the current rights and the current configuration. */
  readonly freshCaller: (caller: Caller) => Promise<Caller>;
  /** The system user as a caller, with the current configuration. */
  readonly system: () => Promise<Caller>;
}

export interface ConnectOptions {
  /** `false`: no reaction runs on changes. */
  reacts?: boolean;
  /** Maximum number of changes in one statement. */
  groupSize?: number | undefined;
  /** Parts that the composition makes instead of the modules. */
  provided?: readonly Provided[];
}

/** Makes a service of modules and adapters. */
export function connect(
  modules: readonly Module[],
  adapters: Adapters,
  { reacts = true, groupSize, provided = [] }: ConnectOptions = {},
): Service {
  const made = new Map<ServicePart<unknown>, unknown>();
  const makers = new Map(
    [...modules.flatMap(({ provides = [] }) => provides), ...provided].map(({ part, make }) => [part, make]),
  );
  const get = <T>(part: ServicePart<T>): T => {
    if (!made.has(part)) {
      const make = makers.get(part) ?? part.make;
      if (make === undefined) throw new Error(`no module provides ${part.name}`);
      made.set(part, make(service));
    }
    return made.get(part) as T;
  };
  let operations: readonly BoundOperation[] | undefined;
  const service: Service = {
    ...adapters,
    modules,
    get,
    get work() {
      return work;
    },
    get operations() {
      operations ??= modules.flatMap((module) => (module.operations ?? []).map((binding) => binding.bound(service)));
      return operations;
    },
    actorOf: (userId) => get(people).actorOf(userId),
    actorsOf: (userIds) => get(people).actorsOf(userIds),
    freshCaller: async (caller) => {
      if (caller.actor.isTraced === true) return caller;
      const { userId } = caller.actor;
      const actor = userId === null ? caller.actor : await get(people).actorOf(userId);
      return { ...caller, actor: actor ?? get(people).anonymousActor(), config: await adapters.versions.fresh() };
    },
    system: async () => get(people).systemCaller(await adapters.versions.fresh()),
  };
  const reaction = reacts ? modules.find((module) => module.reaction !== undefined)?.reaction?.(service) : undefined;
  const work = new Work({
    db: adapters.db,
    clock: adapters.clock,
    blobs: adapters.blobs,
    replica: adapters.replica,
    actorOf: service.actorOf,
    followers: modules.flatMap((module) => module.followers?.(service) ?? []),
    reaction,
    constraints: new Map(modules.flatMap(({ constraints = {} }) => Object.entries(constraints))),
    ...(groupSize === undefined ? {} : { groupSize }),
  });
  return service;
}
