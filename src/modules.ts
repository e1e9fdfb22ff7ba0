/** Registry of all domain modules and what each contributes to the service. Only this file lists them. */
import type { Constraints } from './platform/database/sqlstate.ts';
import type { ConfigSection } from './configuration/section.ts';
import { bundleRoutes } from './configuration/routes.ts';
import { addItem, compileItem } from './configuration/engine.ts';
import { configurationChecks } from './configuration/store-versions.ts';
import type { Operation } from './contract/operation.ts';
import type { ImpactParts } from './configuration/impact.ts';
import {
  accessImpact,
  accessRoutes,
  administratorFollower,
  type ExplainParts,
  sessionFollower,
  SignIns,
  systemActor,
} from './domain/access/index.ts';
import { rolesSection } from './domain/access/config.ts';
import { catalogsSection, servicesSection } from './domain/catalog/config.ts';
import { catalogRoutes, serviceSource } from './domain/catalog/index.ts';
import { groupsSection, orgUnitsSection, usersSection } from './domain/identity/config.ts';
import { identityChecks, identityRoutes } from './domain/identity/index.ts';
import { importDefinitionsSection } from './domain/imports/config.ts';
import { integrationsSection } from './domain/inbound/config.ts';
import { inboundChecks, inboundRoutes } from './domain/inbound/index.ts';
import { knowledgeBasesSection } from './domain/knowledge/config.ts';
import { articleImageUse, articleSource, knowledgeChecks, knowledgeRoutes } from './domain/knowledge/index.ts';
import { settingsSection, typesSection } from './domain/metadata/config.ts';
import { relationDefinitionsSection } from './domain/relations/config.ts';
import { calendarsSection, slaPoliciesSection } from './domain/sla/config.ts';
import { signingSecretsSection, webhooksSection } from './domain/webhooks/config.ts';
import { workflowsSection } from './domain/workflow/config.ts';
import { metadataRoutes, typeView } from './domain/metadata/index.ts';
import {
  addCommentWithFiles,
  attachmentChecks,
  attachmentEvents,
  attachmentRoutes,
  attachmentUse,
  draftUse,
} from './domain/attachments/index.ts';
import { bulkRoutes } from './domain/bulk/index.ts';
import { exportRoutes } from './domain/exports/index.ts';
import { importChecks, importMetrics, importRoutes } from './domain/imports/index.ts';
import { feedRoutes } from './domain/feed/index.ts';
import { commentChecks, commentEvents, commentRoutes } from './domain/comments/index.ts';
import { macrosSection } from './domain/desk/config.ts';
import { deskRoutes, queuesImpact } from './domain/desk/index.ts';
import {
  imageUse,
  objectChecks,
  objectRoutes,
  recordEffects,
  requireVisible,
  readableTitle,
  recordProbe,
  recordsImpact,
} from './domain/objects/index.ts';
import {
  type ActorsOf,
  importsForBackup,
  notificationChecks,
  notificationEffects,
  notificationMetrics,
  notificationMoment,
  notificationRoutes,
} from './domain/notifications/index.ts';
import { relationChecks, relationEvents, relationRoutes } from './domain/relations/index.ts';
import {
  makeSearchParts,
  type MemorySearcher,
  searchMetrics,
  type SearchParts,
  searchFollower,
  searchRoutes,
  suggestions,
  wordMatch,
  synonymsSection,
} from './domain/search/index.ts';
import { mailMetrics, mailMoment, mailRoutes, messageUse, TOKEN_KEY } from './domain/mail/index.ts';
import { mailboxesSection, templatesSection } from './domain/mail/config.ts';
import { dashboardsSection } from './domain/reports/config.ts';
import { rulesSection } from './domain/rules/config.ts';
import { ruleEffects, ruleMoment, ruleRoutes, sampleMessage } from './domain/rules/index.ts';
import { reportChecks, reportFollower, reportRoutes } from './domain/reports/index.ts';
import { slaChecks, slaFollower, slaImpact, slaMoment, slaRoutes, timerMetrics } from './domain/sla/index.ts';
import {
  deliveryEffects,
  deliveryMetrics,
  deliveryMoment,
  webhookChecks,
  webhookRoutes,
} from './domain/webhooks/index.ts';
import { transitionOf, workflowRoutes } from './domain/workflow/index.ts';
import { cutEffects } from './contract/effects.ts';
import { DescribedRequests } from './http/described-requests.ts';
import { inputReader } from './http/validate.ts';
import type { BoundOperation, EffectsOf } from './platform/unit-of-work/binding.ts';
import { type Check, journalCheck } from './platform/audit/checks.ts';
import { consumersCheck } from './platform/journal/consumers.ts';
import { journalMetrics } from './platform/journal/metrics.ts';
import { PlaceWatch } from './platform/journal/place-watch.ts';
import { placesCheck } from './platform/journal/places.ts';
import type { BackupSources } from './platform/backup/dump.ts';
import type { BlobUse } from './platform/blobs/register.ts';
import { ContentHolder, type ContentParts } from './platform/blobs/serve.ts';
import type { BlobStore } from './platform/blobs/store.ts';
import type { Changes } from './platform/unit-of-work/changes.ts';
import type { Actor, Caller, Follower } from './platform/unit-of-work/context.ts';
import { newId } from './platform/clock.ts';
import type { Moment } from './platform/moments.ts';
import type { DatabaseMetric } from './platform/observability/database-metrics.ts';
import type { AddressCheck, Outbound } from './platform/outbound/outbound.ts';
import { SecretBox } from './platform/secrets.ts';
import type { ConfigSnapshot } from './platform/unit-of-work/snapshot.ts';

/**
 * The sections of the configuration bundle, in the order in which they are applied and exported.
 *
 * @param outbound checks the webhook addresses in a bundle
 */
export function configSections(outbound: AddressCheck): readonly ConfigSection[] {
  return [
    settingsSection,
    usersSection,
    groupsSection,
    orgUnitsSection,
    workflowsSection(recordProbe),
    typesSection(recordProbe),
    rolesSection,
    calendarsSection,
    slaPoliciesSection,
    relationDefinitionsSection,
    servicesSection,
    catalogsSection,
    knowledgeBasesSection,
    signingSecretsSection,
    webhooksSection(outbound),
    integrationsSection,
    importDefinitionsSection,
    dashboardsSection,
    macrosSection,
    rulesSection,
    synonymsSection,
    templatesSection,
    mailboxesSection,
  ];
}

/** Dependencies of the modules' handlers beyond their context. */
interface Notifying {
  /** The rights of the ACTIVE users among these, by id. */
  actorsOf: ActorsOf;
  /** Whether notifications are sent by mail. */
  sendsMail: boolean;
}

export interface Parts extends ContentParts<Caller> {
  search: SearchParts;
  secrets: SecretBox;
  signIns: SignIns;
  outbound: Pick<Outbound, 'refusals' | 'post'>;
  /** Name of the OpenID Connect provider; null without one. */
  oidc: string | null;
  /** The rights of an ACTIVE user, for actions on their behalf; undefined for all others. */
  actorOf(userId: string): Promise<Actor | undefined>;
  notifying: Notifying;
  /** Tells that there are new places in the changes feed. */
  places: PlaceWatch;
  /** Tells that changes were committed, for event streams. */
  changes: Pick<Changes, 'listen'>;
}

/** State of the search module that is shared by all requests and changes of a process. */
export function searchParts(memory?: MemorySearcher): SearchParts {
  return makeSearchParts(articleSource, serviceSource, memory);
}

/** References to content in the blob store. Content without any reference is deleted. */
export const BLOB_USES: readonly BlobUse[] = [attachmentUse, draftUse, imageUse, articleImageUse, messageUse];

/** Tables with transaction ids, which differ in the database that a backup is restored to: how their rows are backed up. */
export const BACKUP_SOURCES: BackupSources = { notification_imports: importsForBackup };

/** Invariants of the stored data, declared by each module (`docket doctor --deep`). */
export const CHECKS: readonly Check[] = [
  journalCheck,
  placesCheck,
  consumersCheck,
  ...configurationChecks,
  ...objectChecks,
  ...commentChecks,
  ...attachmentChecks,
  ...relationChecks,
  ...slaChecks,
  ...reportChecks,
  ...importChecks,
  ...inboundChecks,
  ...identityChecks,
  ...knowledgeChecks,
  ...webhookChecks,
  ...notificationChecks,
];

/** When background tasks are due. */
export const MOMENTS: readonly Moment[] = [slaMoment, ruleMoment, deliveryMoment, notificationMoment, mailMoment];

/** Metrics computed from the database, for `/metrics`. */
export const DATABASE_METRICS: readonly DatabaseMetric[] = [
  ...journalMetrics,
  ...deliveryMetrics,
  ...timerMetrics,
  ...importMetrics,
  ...searchMetrics,
  ...notificationMetrics,
  ...mailMetrics,
];

/**
 * Modules that react to events of other modules in the same unit of work, in this order. Every unit that writes records needs
 * them.
 *
 * @param oidc whether sign-in by OpenID Connect is configured
 */
export function followers(search: SearchParts, { oidc }: { oidc: boolean }): Follower[] {
  const { analysis, articles } = search;
  return [
    slaFollower,
    searchFollower(analysis, articles),
    reportFollower,
    sessionFollower,
    administratorFollower(oidc),
  ];
}

/** What a plan can compute its impact from. */
export const IMPACT: ImpactParts = {
  sources: [accessImpact, recordsImpact, slaImpact, queuesImpact],
  systemActor: (config) => systemActor(config.get(typeView)),
};

/** Which events about comments, files and relations are hidden, for everything that shows events. */
export const HISTORY_FILTERS = [commentEvents, attachmentEvents, relationEvents];

/** What a dry run would have done. */
export function effectsBy(parts: Notifying): EffectsOf {
  return async (ctx, tried, scopes) => {
    const { events, sla, visible } = await recordEffects(ctx, tried.events, HISTORY_FILTERS, scopes);
    const webhooks = deliveryEffects(ctx, visible, scopes);
    const system = systemActor(ctx.config.get(typeView));
    const notifications = await notificationEffects(ctx, tried.events, { ...parts, system });
    const rules = await ruleEffects(ctx, tried.reactions);
    return cutEffects({ events, sla, webhooks, rules, notifications });
  };
}

/** What explanations need of the operations. @param bound asked once, at the first explanation */
export function explainParts(bound: () => readonly BoundOperation[]): ExplainParts {
  const requests = new DescribedRequests(bound);
  return { find: (request) => requests.find(request), transitionOf };
}

/** All operations of the service, in the order of the documentation. */
export function bindings(parts: Parts): BoundOperation[] {
  const sections = configSections(parts.outbound);
  const bound: BoundOperation[] = [
    ...metadataRoutes,
    ...objectRoutes(HISTORY_FILTERS, parts, wordMatch(parts.search)),
    ...commentRoutes(addCommentWithFiles),
    ...attachmentRoutes(parts),
    ...relationRoutes,
    ...workflowRoutes,
    ...searchRoutes(parts.search),
    ...bulkRoutes,
    ...slaRoutes,
    ...importRoutes(parts, (ctx, item) => addItem(ctx, sections, importDefinitionsSection.key, item)),
    ...exportRoutes(parts.freshCaller, wordMatch(parts.search)),
    ...catalogRoutes(parts.actorOf),
    ...knowledgeRoutes(parts),
    ...webhookRoutes(parts.secrets, parts.outbound, sampleMessage),
    ...feedRoutes(parts.places),
    ...identityRoutes,
    ...inboundRoutes(inputReader),
    ...mailRoutes({
      blobs: parts.blobs,
      actorOf: parts.actorOf,
      tokenKey: parts.secrets.deriveKey(TOKEN_KEY),
      sendsMail: parts.notifying.sendsMail,
    }),
    ...accessRoutes(
      parts.signIns,
      parts.oidc,
      async (ctx, id) => {
        const object = await requireVisible(ctx, id);
        return { type: object.type, facts: object.facts, title: readableTitle(object) };
      },
      explainParts(() => bound),
    ),
    ...deskRoutes(wordMatch(parts.search), suggestions(parts.search), parts.actorOf, parts.freshCaller, parts.changes),
    ...reportRoutes,
    ...ruleRoutes(
      {
        actorOf: parts.actorOf,
        filters: HISTORY_FILTERS,
        compile: (ctx, item) => compileItem(ctx, sections, rulesSection.key, item, ['rule']),
      },
      effectsBy(parts.notifying),
    ),
    ...notificationRoutes(parts.changes, {
      actorsOf: parts.notifying.actorsOf,
      systemActor: ({ config }) => systemActor(config.get(typeView)),
      filters: HISTORY_FILTERS,
    }),
    ...bundleRoutes(sections, IMPACT),
  ];
  return bound;
}

export function operations(): Operation[] {
  // Declarations do not depend on the handlers' dependencies; none of these is called.
  const none = (): never => {
    throw new Error('operations are declarations here');
  };
  const blobs: BlobStore = { put: none, read: none, bytes: none, remove: none, list: none, check: none };
  const secrets = new SecretBox('declarations seal nothing');
  const parts: Parts = {
    blobs,
    holder: new ContentHolder(0),
    search: searchParts(),
    secrets,
    signIns: new SignIns({ secrets, db: { query: none }, clock: { now: none } }),
    outbound: { refusals: none, post: none },
    oidc: null,
    freshCaller: none,
    actorOf: none,
    notifying: { actorsOf: none, sendsMail: false },
    changes: { listen: none },
    places: new PlaceWatch({ query: none, session: none }, { listen: none }),
  };
  return bindings(parts).map((bound) => bound.operation);
}
/** Unique constraints that a client can violate, and the resulting fault. */
export const CONSTRAINTS: Constraints = new Map([
  ['objects_pkey', { code: 'ALREADY_EXISTS', field: 'objectId' }],
  ['kb_versions_draft', { code: 'ALREADY_EXISTS', field: 'code' }],
  ['users_login', { code: 'ALREADY_EXISTS', field: 'login' }],
  ['users_email', { code: 'ALREADY_EXISTS', field: 'email' }],
  ['users_external_id', { code: 'ALREADY_EXISTS', field: 'externalId' }],
  ['groups_code', { code: 'ALREADY_EXISTS', field: 'code' }],
  ['org_units_code', { code: 'ALREADY_EXISTS', field: 'code' }],
  ['mail_messages_once', { code: 'ALREADY_EXISTS', field: 'message' }],
]);

/** The system user, with the given configuration. */
export function systemCaller(config: ConfigSnapshot): Caller {
  return {
    actor: systemActor(config.get(typeView)),
    via: 'system',
    keyId: null,
    correlationId: newId(),
    config,
  };
}
