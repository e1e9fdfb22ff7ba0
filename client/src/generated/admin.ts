// Written by client/tools/generate.ts from the OpenAPI documents: change those, not this.
import { type CallOptions, Group } from '../transport.ts';
import type { Download } from '../content.ts';
import type * as T from './admin-types.ts';

export class ObjectsAdministration extends Group {
  /**
   * Restore an archived record. The record is active again, with its values and its workflow state as they were. Needs a session, or a key with the scope `admin:manage`, and the right `archive`.
   *
   * `POST /objects/{objectId}/restore`, right `archive`
   */
  restore(
    objectId: T.ObjectsRestoreData['path']['objectId'],
    options?: CallOptions,
  ): Promise<T.ObjectsRestoreResponses[200]['data']> {
    return this.sender.send<T.ObjectsRestoreResponses[200]['data']>(
      { id: 'objects.restore', method: 'POST', path: '/objects/{objectId}/restore', surface: 'admin', answer: 'json' },
      { params: [objectId] },
      options,
    );
  }
}

export class SlaAdministration extends Group {
  /**
   * Explain the elapsed time of an SLA instance. All intervals from the start until now, or until the stop, without gaps, with the reason why each was counted or not. The counted ones add up to `elapsedMs` exactly. Needs a session, or a key with the scope `admin:manage`, and the right `read`.
   *
   * `GET /sla/{instanceId}/explanation`, right `read`
   */
  explanation(
    instanceId: T.SlaExplanationData['path']['instanceId'],
    options?: CallOptions,
  ): Promise<T.SlaExplanationResponses[200]['data']> {
    return this.sender.send<T.SlaExplanationResponses[200]['data']>(
      { id: 'sla.explanation', method: 'GET', path: '/sla/{instanceId}/explanation', surface: 'admin', answer: 'json' },
      { params: [instanceId] },
      options,
    );
  }

  /**
   * Calculate when something would be due. Name a policy (`policy`, with `values` of a record to choose the target), or give `calendar` and `target`, which also override those of the policy. Nothing is stored. Needs a session, or a key with the scope `admin:manage`, and the right `config.manage`.
   *
   * `POST /sla/try-out`, right `config.manage`
   */
  try(body: T.SlaTryData['body'], options?: CallOptions): Promise<T.SlaTryResponses[200]['data']> {
    return this.sender.send<T.SlaTryResponses[200]['data']>(
      { id: 'sla.try', method: 'POST', path: '/sla/try-out', surface: 'admin', answer: 'json' },
      { params: [], body },
      options,
    );
  }

  /**
   * Preview the open hours of a calendar. The calendar is named by id or code, or given in the body before it is saved. Nothing is stored. Needs a session, or a key with the scope `admin:manage`, and the right `config.manage`.
   *
   * `POST /calendars/preview`, right `config.manage`
   */
  preview(body: T.SlaPreviewData['body'], options?: CallOptions): Promise<T.SlaPreviewResponses[200]['data']> {
    return this.sender.send<T.SlaPreviewResponses[200]['data']>(
      { id: 'sla.preview', method: 'POST', path: '/calendars/preview', surface: 'admin', answer: 'json' },
      { params: [], body },
      options,
    );
  }
}

export class ImportsAdministration extends Group {
  /**
   * List import definitions. Includes archived definitions; see `state`. Needs a session, or a key with the scope `admin:manage`, and the right `import.manage`.
   *
   * `GET /import-definitions`, right `import.manage`
   */
  definitions(options?: CallOptions): Promise<T.ImportsDefinitionsResponses[200]['data']> {
    return this.sender.send<T.ImportsDefinitionsResponses[200]['data']>(
      { id: 'imports.definitions', method: 'GET', path: '/import-definitions', surface: 'admin', answer: 'json' },
      { params: [] },
      options,
    );
  }

  /**
   * List import runs, newest first. The list does not contain the results of rows; read a single run to get them. Needs a session, or a key with the scope `admin:manage`, and the right `import.manage`.
   *
   * `GET /import-runs`, right `import.manage`
   */
  list(
    query: NonNullable<T.ImportsListData['query']> = {},
    options?: CallOptions,
  ): Promise<T.ImportsListResponses[200]['data']> {
    return this.sender.send<T.ImportsListResponses[200]['data']>(
      { id: 'imports.list', method: 'GET', path: '/import-runs', surface: 'admin', answer: 'json' },
      { params: [], query },
      options,
    );
  }

  /**
   * Preview what each row would change. For the first rows: the mapped fields before and after, limited to fields that the caller may read. Nothing is stored. Needs a session, or a key with the scope `admin:manage`, and the right `import.execute`.
   *
   * `POST /imports/preview`, right `import.execute`
   */
  preview(body: T.ImportsPreviewData['body'], options?: CallOptions): Promise<T.ImportsPreviewResponses[200]['data']> {
    return this.sender.send<T.ImportsPreviewResponses[200]['data']>(
      { id: 'imports.preview', method: 'POST', path: '/imports/preview', surface: 'admin', answer: 'json' },
      { params: [], body },
      options,
    );
  }

  /**
   * Undo an import run. Rows are undone in reverse order: created records are archived, changed records get their previous values back. Rows whose record was changed since are skipped. The call can be repeated. Needs a session, or a key with the scope `admin:manage`, and the right `import.manage`.
   *
   * `POST /import-runs/{runId}/undo`, right `import.manage`
   */
  undo(runId: T.ImportsUndoData['path']['runId'], options?: CallOptions): Promise<T.ImportsUndoResponses[200]['data']> {
    return this.sender.send<T.ImportsUndoResponses[200]['data']>(
      { id: 'imports.undo', method: 'POST', path: '/import-runs/{runId}/undo', surface: 'admin', answer: 'json' },
      { params: [runId] },
      options,
    );
  }
}

export class KbAdministration extends Group {
  /**
   * Read a version of an article in any state. Drafts, active and archived versions, with their text. Needs a session, or a key with the scope `admin:manage`, and the right `kb.write`.
   *
   * `GET /kb/article-versions/{versionId}`, right `kb.write`
   */
  version(
    versionId: T.KbVersionData['path']['versionId'],
    options?: CallOptions,
  ): Promise<T.KbVersionResponses[200]['data']> {
    return this.sender.send<T.KbVersionResponses[200]['data']>(
      { id: 'kb.version', method: 'GET', path: '/kb/article-versions/{versionId}', surface: 'admin', answer: 'json' },
      { params: [versionId] },
      options,
    );
  }

  /**
   * List the bases and sections that have articles for the caller. Names are in the requested locale. A section is listed if the caller may read an article of it or of a section below it. Callers with kb.portal instead of kb.read get portal articles only. Needs a session, or a key with the scope `admin:manage`.
   *
   * `GET /kb/contents`, right `kb.read`
   */
  contents(
    query: NonNullable<T.KbContentsData['query']> = {},
    options?: CallOptions,
  ): Promise<T.KbContentsResponses[200]['data']> {
    return this.sender.send<T.KbContentsResponses[200]['data']>(
      { id: 'kb.contents', method: 'GET', path: '/kb/contents', surface: 'admin', answer: 'json' },
      { params: [], query },
      options,
    );
  }

  /**
   * List published articles by section, popularity, or likeness to an article. One version for each article, as `GET /kb/articles` returns it. `sectionId` includes the sections below. `sort` is `title` (default), `newest`, or `popular`: by the views of the last 90 days and the votes. `relatedTo` lists articles that share tags, words of the title or the section with this one, the most alike first. Needs a session, or a key with the scope `admin:manage`, and the right `kb.read`.
   *
   * `GET /kb/browse`, right `kb.read`
   */
  browse(
    query: NonNullable<T.KbBrowseData['query']> = {},
    options?: CallOptions,
  ): Promise<T.KbBrowseResponses[200]['data']> {
    return this.sender.send<T.KbBrowseResponses[200]['data']>(
      { id: 'kb.browse', method: 'GET', path: '/kb/browse', surface: 'admin', answer: 'json' },
      { params: [], query },
      options,
    );
  }

  /**
   * Count a view of an article, and read the vote of the caller. The console calls this when a reader opens an article. A view is counted once for each user and day (UTC). An article that the caller may not read is 404. Needs a session, or a key with the scope `admin:manage`, and the right `kb.read`.
   *
   * `POST /kb/articles/{articleId}/views`, right `kb.read`
   */
  view(articleId: T.KbViewData['path']['articleId'], options?: CallOptions): Promise<T.KbViewResponses[200]['data']> {
    return this.sender.send<T.KbViewResponses[200]['data']>(
      { id: 'kb.view', method: 'POST', path: '/kb/articles/{articleId}/views', surface: 'admin', answer: 'json' },
      { params: [articleId] },
      options,
    );
  }

  /**
   * Say whether an article helped. Replaces the vote of the caller; null removes it. Authors see only the counts. An article that the caller may not read is 404. Needs a session, or a key with the scope `admin:manage`, and the right `kb.read`.
   *
   * `PUT /kb/articles/{articleId}/vote`, right `kb.read`
   */
  vote(
    articleId: T.KbVoteData['path']['articleId'],
    body: T.KbVoteData['body'],
    options?: CallOptions,
  ): Promise<T.KbVoteResponses[200]['data']> {
    return this.sender.send<T.KbVoteResponses[200]['data']>(
      { id: 'kb.vote', method: 'PUT', path: '/kb/articles/{articleId}/vote', surface: 'admin', answer: 'json' },
      { params: [articleId], body },
      options,
    );
  }

  /**
   * Create a new article as a draft, with a code made from its title. As `POST /kb/articles`, but always a new article: the code is the transliterated title, with a number if it is taken. The visibility is that of the base. The draft can be given its audience at once. Needs a session, or a key with the scope `admin:manage`, and the right `kb.write`.
   *
   * `POST /kb/drafts`, right `kb.write`; made once, however often it is sent
   */
  draft(body: T.KbDraftData['body'], options?: CallOptions): Promise<T.KbDraftResponses[201]['data']> {
    return this.sender.send<T.KbDraftResponses[201]['data']>(
      { id: 'kb.draft', method: 'POST', path: '/kb/drafts', surface: 'admin', answer: 'json', keyed: true },
      { params: [], body },
      options,
    );
  }

  /**
   * Set the date on which an article should be checked again. The date belongs to the article, not to a version; null removes it. Needs a session, or a key with the scope `admin:manage`, and the right `kb.write`.
   *
   * `PUT /kb/articles/{articleId}/review`, right `kb.write`
   */
  review(
    articleId: T.KbReviewData['path']['articleId'],
    body: T.KbReviewData['body'],
    options?: CallOptions,
  ): Promise<T.KbReviewResponses[200]['data']> {
    return this.sender.send<T.KbReviewResponses[200]['data']>(
      { id: 'kb.review', method: 'PUT', path: '/kb/articles/{articleId}/review', surface: 'admin', answer: 'json' },
      { params: [articleId], body },
      options,
    );
  }

  /**
   * List the knowledge bases with their sections. Names are in the requested locale. Needs a session, or a key with the scope `admin:manage`, and the right `kb.write`.
   *
   * `GET /kb/bases`, right `kb.write`
   */
  bases(
    query: NonNullable<T.KbBasesData['query']> = {},
    options?: CallOptions,
  ): Promise<T.KbBasesResponses[200]['data']> {
    return this.sender.send<T.KbBasesResponses[200]['data']>(
      { id: 'kb.bases', method: 'GET', path: '/kb/bases', surface: 'admin', answer: 'json' },
      { params: [], query },
      options,
    );
  }

  /**
   * List versions of articles, drafts too, last changed first. Filter by state, base or article. `own=true` keeps the versions that the caller created, changed last or is responsible for; `reviewDue=true` those of articles whose review date has come. Without filters all versions are listed. Needs a session, or a key with the scope `admin:manage`, and the right `kb.write`.
   *
   * `GET /kb/article-versions`, right `kb.write`
   */
  versions(
    query: NonNullable<T.KbVersionsData['query']> = {},
    options?: CallOptions,
  ): Promise<T.KbVersionsResponses[200]['data']> {
    return this.sender.send<T.KbVersionsResponses[200]['data']>(
      { id: 'kb.versions', method: 'GET', path: '/kb/article-versions', surface: 'admin', answer: 'json' },
      { params: [], query },
      options,
    );
  }

  /**
   * Read the audience of a version. An empty list means that nobody can read the version. Needs a session, or a key with the scope `admin:manage`, and the right `kb.write`.
   *
   * `GET /kb/article-versions/{versionId}/audiences`, right `kb.write`
   */
  audiences(
    versionId: T.KbAudiencesData['path']['versionId'],
    options?: CallOptions,
  ): Promise<T.KbAudiencesResponses[200]['data']> {
    return this.sender.send<T.KbAudiencesResponses[200]['data']>(
      {
        id: 'kb.audiences',
        method: 'GET',
        path: '/kb/article-versions/{versionId}/audiences',
        surface: 'admin',
        answer: 'json',
      },
      { params: [versionId] },
      options,
    );
  }

  /**
   * Set the audience of a version. Replaces the whole audience. For an active version the caller also needs kb.publish, and the audience cannot be empty. Needs a session, or a key with the scope `admin:manage`, and the right `kb.write`.
   *
   * `PUT /kb/article-versions/{versionId}/audiences`, right `kb.write`
   */
  setAudiences(
    versionId: T.KbSetAudiencesData['path']['versionId'],
    body: T.KbSetAudiencesData['body'],
    options?: CallOptions,
  ): Promise<T.KbSetAudiencesResponses[200]['data']> {
    return this.sender.send<T.KbSetAudiencesResponses[200]['data']>(
      {
        id: 'kb.set-audiences',
        method: 'PUT',
        path: '/kb/article-versions/{versionId}/audiences',
        surface: 'admin',
        answer: 'json',
      },
      { params: [versionId], body },
      options,
    );
  }

  /**
   * Turn an archived version into a draft. The archived version becomes a draft again. Refused when the article already has a draft in that locale. Needs a session, or a key with the scope `admin:manage`, and the right `kb.write`.
   *
   * `POST /kb/article-versions/{versionId}/restore`, right `kb.write`
   */
  restore(
    versionId: T.KbRestoreData['path']['versionId'],
    options?: CallOptions,
  ): Promise<T.KbRestoreResponses[200]['data']> {
    return this.sender.send<T.KbRestoreResponses[200]['data']>(
      {
        id: 'kb.restore',
        method: 'POST',
        path: '/kb/article-versions/{versionId}/restore',
        surface: 'admin',
        answer: 'json',
      },
      { params: [versionId] },
      options,
    );
  }

  /**
   * Read the opaque token that archiving needs. The token stands for the versions that the article has in one locale. It becomes stale when one of them changes. Needs a session, or a key with the scope `admin:manage`, and the right `kb.write`.
   *
   * `GET /kb/articles/{articleId}/material`, right `kb.write`
   */
  material(
    articleId: T.KbMaterialData['path']['articleId'],
    query: NonNullable<T.KbMaterialData['query']> = {},
    options?: CallOptions,
  ): Promise<T.KbMaterialResponses[200]['data']> {
    return this.sender.send<T.KbMaterialResponses[200]['data']>(
      { id: 'kb.material', method: 'GET', path: '/kb/articles/{articleId}/material', surface: 'admin', answer: 'json' },
      { params: [articleId], query },
      options,
    );
  }
}

export class WebhooksAdministration extends Group {
  /**
   * Change a webhook subscription. Only possible while the subscription is disabled. Omitted properties keep their values; `filters` is replaced as a whole. Needs a session, or a key with the scope `admin:manage`, and the right `webhook.manage`.
   *
   * `PATCH /webhooks/{id}`, right `webhook.manage`
   */
  change(
    id: T.WebhooksChangeData['path']['id'],
    body?: T.WebhooksChangeData['body'],
    options?: CallOptions,
  ): Promise<T.WebhooksChangeResponses[200]['data']> {
    return this.sender.send<T.WebhooksChangeResponses[200]['data']>(
      { id: 'webhooks.change', method: 'PATCH', path: '/webhooks/{id}', surface: 'admin', answer: 'json' },
      { params: [id], body },
      options,
    );
  }

  /**
   * Enable a webhook subscription. Later events are delivered. Refused while the signing secret has no value. Needs a session, or a key with the scope `admin:manage`, and the right `webhook.manage`.
   *
   * `POST /webhooks/{id}/enable`, right `webhook.manage`
   */
  enable(
    id: T.WebhooksEnableData['path']['id'],
    options?: CallOptions,
  ): Promise<T.WebhooksEnableResponses[200]['data']> {
    return this.sender.send<T.WebhooksEnableResponses[200]['data']>(
      { id: 'webhooks.enable', method: 'POST', path: '/webhooks/{id}/enable', surface: 'admin', answer: 'json' },
      { params: [id] },
      options,
    );
  }

  /**
   * Disable a webhook subscription. Queued deliveries wait. An attempt that is already running is finished. Needs a session, or a key with the scope `admin:manage`, and the right `webhook.manage`.
   *
   * `POST /webhooks/{id}/disable`, right `webhook.manage`
   */
  disable(
    id: T.WebhooksDisableData['path']['id'],
    options?: CallOptions,
  ): Promise<T.WebhooksDisableResponses[200]['data']> {
    return this.sender.send<T.WebhooksDisableResponses[200]['data']>(
      { id: 'webhooks.disable', method: 'POST', path: '/webhooks/{id}/disable', surface: 'admin', answer: 'json' },
      { params: [id] },
      options,
    );
  }

  /**
   * Archive a webhook subscription. Disables the subscription. It can be restored. Needs a session, or a key with the scope `admin:manage`, and the right `webhook.manage`.
   *
   * `POST /webhooks/{id}/archive`, right `webhook.manage`
   */
  archive(
    id: T.WebhooksArchiveData['path']['id'],
    options?: CallOptions,
  ): Promise<T.WebhooksArchiveResponses[200]['data']> {
    return this.sender.send<T.WebhooksArchiveResponses[200]['data']>(
      { id: 'webhooks.archive', method: 'POST', path: '/webhooks/{id}/archive', surface: 'admin', answer: 'json' },
      { params: [id] },
      options,
    );
  }

  /**
   * Restore an archived webhook subscription. The subscription is disabled until it is enabled again. Needs a session, or a key with the scope `admin:manage`, and the right `webhook.manage`.
   *
   * `POST /webhooks/{id}/restore`, right `webhook.manage`
   */
  restore(
    id: T.WebhooksRestoreData['path']['id'],
    options?: CallOptions,
  ): Promise<T.WebhooksRestoreResponses[200]['data']> {
    return this.sender.send<T.WebhooksRestoreResponses[200]['data']>(
      { id: 'webhooks.restore', method: 'POST', path: '/webhooks/{id}/restore', surface: 'admin', answer: 'json' },
      { params: [id] },
      options,
    );
  }

  /**
   * Read a delivery with its attempts. Each attempt has the status, the time and the beginning of the answer of the receiver. Needs a session, or a key with the scope `admin:manage`, and the right `webhook.manage`.
   *
   * `GET /webhook-deliveries/{id}`, right `webhook.manage`
   */
  delivery(
    id: T.WebhooksDeliveryData['path']['id'],
    options?: CallOptions,
  ): Promise<T.WebhooksDeliveryResponses[200]['data']> {
    return this.sender.send<T.WebhooksDeliveryResponses[200]['data']>(
      { id: 'webhooks.delivery', method: 'GET', path: '/webhook-deliveries/{id}', surface: 'admin', answer: 'json' },
      { params: [id] },
      options,
    );
  }

  /**
   * Retry a failed delivery. The subscription must be enabled and active. Needs a session, or a key with the scope `admin:manage`, and the right `webhook.manage`.
   *
   * `POST /webhook-deliveries/{id}/retry`, right `webhook.manage`
   */
  retry(id: T.WebhooksRetryData['path']['id'], options?: CallOptions): Promise<T.WebhooksRetryResponses[200]['data']> {
    return this.sender.send<T.WebhooksRetryResponses[200]['data']>(
      {
        id: 'webhooks.retry',
        method: 'POST',
        path: '/webhook-deliveries/{id}/retry',
        surface: 'admin',
        answer: 'json',
      },
      { params: [id] },
      options,
    );
  }

  /**
   * Send a sample delivery. Sends one signed sample with invented data to the endpoint, and returns the request and the answer: the delivery of an event, or the message of a rule that posts to the subscription. The subscription and the rule may be disabled. The sample is not stored as a delivery; the audit log notes it. At most 10 samples a minute for each subscription; more are answered with 429. Needs a session, or a key with the scope `admin:manage`, and the right `webhook.manage`.
   *
   * `POST /webhooks/{id}/test`, right `webhook.manage`
   */
  test(
    id: T.WebhooksTestData['path']['id'],
    body?: T.WebhooksTestData['body'],
    options?: CallOptions,
  ): Promise<T.WebhooksTestResponses[200]['data']> {
    return this.sender.send<T.WebhooksTestResponses[200]['data']>(
      { id: 'webhooks.test', method: 'POST', path: '/webhooks/{id}/test', surface: 'admin', answer: 'json' },
      { params: [id], body },
      options,
    );
  }
}

export class SecretsAdministration extends Group {
  /**
   * List signing secrets. Values of secrets are never returned. Needs a session, or a key with the scope `admin:manage`, and the right `webhook.manage`.
   *
   * `GET /signing-secrets`, right `webhook.manage`
   */
  list(options?: CallOptions): Promise<T.SecretsListResponses[200]['data']> {
    return this.sender.send<T.SecretsListResponses[200]['data']>(
      { id: 'secrets.list', method: 'GET', path: '/signing-secrets', surface: 'admin', answer: 'json' },
      { params: [] },
      options,
    );
  }

  /**
   * Create a signing secret. The value is returned only by this call. Where subscriptions name the secret already, the caller must be able to manage each of them: be its `executionPrincipalId`, or hold `role.assign`. Needs a session, or a key with the scope `admin:manage`, and the right `webhook.manage`.
   *
   * `POST /signing-secrets`, right `webhook.manage`
   */
  create(body: T.SecretsCreateData['body'], options?: CallOptions): Promise<T.SecretsCreateResponses[201]['data']> {
    return this.sender.send<T.SecretsCreateResponses[201]['data']>(
      { id: 'secrets.create', method: 'POST', path: '/signing-secrets', surface: 'admin', answer: 'json' },
      { params: [], body },
      options,
    );
  }

  /**
   * Rotate a signing secret. The previous value stays valid for `overlap`, an ISO 8601 duration (default PT0S). The new value is returned only by this call. The caller must be able to manage every subscription that signs with it: be its `executionPrincipalId`, or hold `role.assign`. Needs a session, or a key with the scope `admin:manage`, and the right `webhook.manage`.
   *
   * `POST /signing-secrets/{code}/rotate`, right `webhook.manage`
   */
  rotate(
    code: T.SecretsRotateData['path']['code'],
    body?: T.SecretsRotateData['body'],
    options?: CallOptions,
  ): Promise<T.SecretsRotateResponses[200]['data']> {
    return this.sender.send<T.SecretsRotateResponses[200]['data']>(
      {
        id: 'secrets.rotate',
        method: 'POST',
        path: '/signing-secrets/{code}/rotate',
        surface: 'admin',
        answer: 'json',
      },
      { params: [code], body },
      options,
    );
  }
}

export class IdentityAdministration extends Group {
  /**
   * Change a user. Omitted properties keep their values; null clears a property. A request whose values all equal the stored ones changes nothing. The login cannot be changed, because the configuration refers to it. E-mail address and external id identify a user at sign-in. Callers without the right role.assign cannot change their own, and can change those of another user only if they have all access that this user has. Needs a session, or a key with the scope `admin:manage`, and the right `user.administer`.
   *
   * `PATCH /identity/users/{id}`, right `user.administer`
   */
  changeUser(
    id: T.IdentityChangeUserData['path']['id'],
    body: T.IdentityChangeUserData['body'],
    options?: CallOptions,
  ): Promise<T.IdentityChangeUserResponses[200]['data']> {
    return this.sender.send<T.IdentityChangeUserResponses[200]['data']>(
      { id: 'identity.changeUser', method: 'PATCH', path: '/identity/users/{id}', surface: 'admin', answer: 'json' },
      { params: [id], body },
      options,
    );
  }

  /**
   * Archive a user. API keys and sessions of the user stop working within a second in every process. Earlier actions keep the name of the user. Needs a session, or a key with the scope `admin:manage`, and the right `user.administer`.
   *
   * `POST /identity/users/{id}/archive`, right `user.administer`
   */
  archiveUser(
    id: T.IdentityArchiveUserData['path']['id'],
    body?: T.IdentityArchiveUserData['body'],
    options?: CallOptions,
  ): Promise<T.IdentityArchiveUserResponses[200]['data']> {
    return this.sender.send<T.IdentityArchiveUserResponses[200]['data']>(
      {
        id: 'identity.archiveUser',
        method: 'POST',
        path: '/identity/users/{id}/archive',
        surface: 'admin',
        answer: 'json',
      },
      { params: [id], body },
      options,
    );
  }

  /**
   * Restore an archived user. The user has the same memberships, roles and keys as before. The caller must have all access that these grant, or the right role.assign. Sessions are not restored. Needs a session, or a key with the scope `admin:manage`, and the right `user.administer`.
   *
   * `POST /identity/users/{id}/restore`, right `user.administer`
   */
  restoreUser(
    id: T.IdentityRestoreUserData['path']['id'],
    body?: T.IdentityRestoreUserData['body'],
    options?: CallOptions,
  ): Promise<T.IdentityRestoreUserResponses[200]['data']> {
    return this.sender.send<T.IdentityRestoreUserResponses[200]['data']>(
      {
        id: 'identity.restoreUser',
        method: 'POST',
        path: '/identity/users/{id}/restore',
        surface: 'admin',
        answer: 'json',
      },
      { params: [id], body },
      options,
    );
  }

  /**
   * Change a group. Omitted properties keep their values; null clears a property. A request whose values all equal the stored ones changes nothing. The code cannot be changed, because the configuration refers to it. Needs a session, or a key with the scope `admin:manage`, and the right `user.administer`.
   *
   * `PATCH /identity/groups/{id}`, right `user.administer`
   */
  changeGroup(
    id: T.IdentityChangeGroupData['path']['id'],
    body: T.IdentityChangeGroupData['body'],
    options?: CallOptions,
  ): Promise<T.IdentityChangeGroupResponses[200]['data']> {
    return this.sender.send<T.IdentityChangeGroupResponses[200]['data']>(
      { id: 'identity.changeGroup', method: 'PATCH', path: '/identity/groups/{id}', surface: 'admin', answer: 'json' },
      { params: [id], body },
      options,
    );
  }

  /**
   * Archive a group. Memberships are kept, but grant nothing while the group is archived. Needs a session, or a key with the scope `admin:manage`, and the right `user.administer`.
   *
   * `POST /identity/groups/{id}/archive`, right `user.administer`
   */
  archiveGroup(
    id: T.IdentityArchiveGroupData['path']['id'],
    body?: T.IdentityArchiveGroupData['body'],
    options?: CallOptions,
  ): Promise<T.IdentityArchiveGroupResponses[200]['data']> {
    return this.sender.send<T.IdentityArchiveGroupResponses[200]['data']>(
      {
        id: 'identity.archiveGroup',
        method: 'POST',
        path: '/identity/groups/{id}/archive',
        surface: 'admin',
        answer: 'json',
      },
      { params: [id], body },
      options,
    );
  }

  /**
   * Restore an archived group. The group grants access to its members again. The caller must have all of that access, as for a new membership, or the right role.assign. Needs a session, or a key with the scope `admin:manage`, and the right `user.administer`.
   *
   * `POST /identity/groups/{id}/restore`, right `user.administer`
   */
  restoreGroup(
    id: T.IdentityRestoreGroupData['path']['id'],
    body?: T.IdentityRestoreGroupData['body'],
    options?: CallOptions,
  ): Promise<T.IdentityRestoreGroupResponses[200]['data']> {
    return this.sender.send<T.IdentityRestoreGroupResponses[200]['data']>(
      {
        id: 'identity.restoreGroup',
        method: 'POST',
        path: '/identity/groups/{id}/restore',
        surface: 'admin',
        answer: 'json',
      },
      { params: [id], body },
      options,
    );
  }

  /**
   * Change an organisation unit. Omitted properties keep their values; null clears a property. A request whose values all equal the stored ones changes nothing. The code cannot be changed, because the configuration refers to it. Needs a session, or a key with the scope `admin:manage`, and the right `user.administer`.
   *
   * `PATCH /identity/org-units/{id}`, right `user.administer`
   */
  changeOrgUnit(
    id: T.IdentityChangeOrgUnitData['path']['id'],
    body: T.IdentityChangeOrgUnitData['body'],
    options?: CallOptions,
  ): Promise<T.IdentityChangeOrgUnitResponses[200]['data']> {
    return this.sender.send<T.IdentityChangeOrgUnitResponses[200]['data']>(
      {
        id: 'identity.changeOrgUnit',
        method: 'PATCH',
        path: '/identity/org-units/{id}',
        surface: 'admin',
        answer: 'json',
      },
      { params: [id], body },
      options,
    );
  }

  /**
   * Archive an organisation unit. Its members and child units are not changed. Needs a session, or a key with the scope `admin:manage`, and the right `user.administer`.
   *
   * `POST /identity/org-units/{id}/archive`, right `user.administer`
   */
  archiveOrgUnit(
    id: T.IdentityArchiveOrgUnitData['path']['id'],
    body?: T.IdentityArchiveOrgUnitData['body'],
    options?: CallOptions,
  ): Promise<T.IdentityArchiveOrgUnitResponses[200]['data']> {
    return this.sender.send<T.IdentityArchiveOrgUnitResponses[200]['data']>(
      {
        id: 'identity.archiveOrgUnit',
        method: 'POST',
        path: '/identity/org-units/{id}/archive',
        surface: 'admin',
        answer: 'json',
      },
      { params: [id], body },
      options,
    );
  }

  /**
   * Restore an archived organisation unit. The unit becomes active. Its parent and its members are unchanged. Needs a session, or a key with the scope `admin:manage`, and the right `user.administer`.
   *
   * `POST /identity/org-units/{id}/restore`, right `user.administer`
   */
  restoreOrgUnit(
    id: T.IdentityRestoreOrgUnitData['path']['id'],
    body?: T.IdentityRestoreOrgUnitData['body'],
    options?: CallOptions,
  ): Promise<T.IdentityRestoreOrgUnitResponses[200]['data']> {
    return this.sender.send<T.IdentityRestoreOrgUnitResponses[200]['data']>(
      {
        id: 'identity.restoreOrgUnit',
        method: 'POST',
        path: '/identity/org-units/{id}/restore',
        surface: 'admin',
        answer: 'json',
      },
      { params: [id], body },
      options,
    );
  }

  /**
   * List memberships of groups, oldest first. Filter by group or by member. Members are users and groups. Needs a session, or a key with the scope `admin:manage`, and the right `user.administer`.
   *
   * `GET /identity/group-memberships`, right `user.administer`
   */
  groupMembers(
    query: NonNullable<T.IdentityGroupMembersData['query']> = {},
    options?: CallOptions,
  ): Promise<T.IdentityGroupMembersResponses[200]['data']> {
    return this.sender.send<T.IdentityGroupMembersResponses[200]['data']>(
      {
        id: 'identity.groupMembers',
        method: 'GET',
        path: '/identity/group-memberships',
        surface: 'admin',
        answer: 'json',
      },
      { params: [], query },
      options,
    );
  }

  /**
   * Remove a member from a group. The member loses the access granted by the group within a second. Returns the removed membership. Needs a session, or a key with the scope `admin:manage`, and the right `user.administer`.
   *
   * `DELETE /identity/group-memberships/{id}`, right `user.administer`
   */
  removeGroupMember(
    id: T.IdentityRemoveGroupMemberData['path']['id'],
    options?: CallOptions,
  ): Promise<T.IdentityRemoveGroupMemberResponses[200]['data']> {
    return this.sender.send<T.IdentityRemoveGroupMemberResponses[200]['data']>(
      {
        id: 'identity.removeGroupMember',
        method: 'DELETE',
        path: '/identity/group-memberships/{id}',
        surface: 'admin',
        answer: 'json',
      },
      { params: [id] },
      options,
    );
  }

  /**
   * List the members of organisation units, oldest first. Filter by unit. A user is in at most one unit. Needs a session, or a key with the scope `admin:manage`, and the right `user.administer`.
   *
   * `GET /identity/org-memberships`, right `user.administer`
   */
  orgMembers(
    query: NonNullable<T.IdentityOrgMembersData['query']> = {},
    options?: CallOptions,
  ): Promise<T.IdentityOrgMembersResponses[200]['data']> {
    return this.sender.send<T.IdentityOrgMembersResponses[200]['data']>(
      { id: 'identity.orgMembers', method: 'GET', path: '/identity/org-memberships', surface: 'admin', answer: 'json' },
      { params: [], query },
      options,
    );
  }

  /**
   * Remove a user from the organisation unit. With `expectedOrganizationUnitId`, the call is rejected if the user is now in another unit. Returns the removed membership. Needs a session, or a key with the scope `admin:manage`, and the right `user.administer`.
   *
   * `DELETE /identity/org-memberships/{id}`, right `user.administer`
   */
  removeOrgMember(
    id: T.IdentityRemoveOrgMemberData['path']['id'],
    body?: T.IdentityRemoveOrgMemberData['body'],
    options?: CallOptions,
  ): Promise<T.IdentityRemoveOrgMemberResponses[200]['data']> {
    return this.sender.send<T.IdentityRemoveOrgMemberResponses[200]['data']>(
      {
        id: 'identity.removeOrgMember',
        method: 'DELETE',
        path: '/identity/org-memberships/{id}',
        surface: 'admin',
        answer: 'json',
      },
      { params: [id], body },
      options,
    );
  }

  /**
   * List archived users, groups and organisation units. Use the `restore` operation of its kind to restore an item. Needs a session, or a key with the scope `admin:manage`, and the right `user.administer`.
   *
   * `GET /identity/archived`, right `user.administer`
   */
  archived(options?: CallOptions): Promise<T.IdentityArchivedResponses[200]['data']> {
    return this.sender.send<T.IdentityArchivedResponses[200]['data']>(
      { id: 'identity.archived', method: 'GET', path: '/identity/archived', surface: 'admin', answer: 'json' },
      { params: [] },
      options,
    );
  }

  /**
   * Set the console password of a user. All sessions of the user end. The password lets the caller sign in as that user. Callers without the right role.assign can therefore set it only for themselves and for users who have no access that the caller lacks. Needs a session, or a key with the scope `admin:manage`, and the right `user.administer`.
   *
   * `POST /identity/users/{id}/password`, right `user.administer`
   */
  setPassword(
    id: T.IdentitySetPasswordData['path']['id'],
    body: T.IdentitySetPasswordData['body'],
    options?: CallOptions,
  ): Promise<T.IdentitySetPasswordResponses[200]['data']> {
    return this.sender.send<T.IdentitySetPasswordResponses[200]['data']>(
      {
        id: 'identity.setPassword',
        method: 'POST',
        path: '/identity/users/{id}/password',
        surface: 'admin',
        answer: 'json',
      },
      { params: [id], body },
      options,
    );
  }
}

export class IntegrationsAdministration extends Group {
  /**
   * List integrations by code, archived ones too. Archived integrations are included. `GET /integrations/{id}/runs` lists the calls of one. Needs a session, or a key with the scope `admin:manage`, and the right `integration.manage`.
   *
   * `GET /integrations`, right `integration.manage`
   */
  list(options?: CallOptions): Promise<T.IntegrationsListResponses[200]['data']> {
    return this.sender.send<T.IntegrationsListResponses[200]['data']>(
      { id: 'integrations.list', method: 'GET', path: '/integrations', surface: 'admin', answer: 'json' },
      { params: [] },
      options,
    );
  }

  /**
   * Change an integration. Only possible while the integration is disabled. Omitted properties keep their values; `config` is replaced as a whole. Needs a session, or a key with the scope `admin:manage`, and the right `integration.manage`.
   *
   * `PATCH /integrations/{id}`, right `integration.manage`
   */
  change(
    id: T.IntegrationsChangeData['path']['id'],
    body?: T.IntegrationsChangeData['body'],
    options?: CallOptions,
  ): Promise<T.IntegrationsChangeResponses[200]['data']> {
    return this.sender.send<T.IntegrationsChangeResponses[200]['data']>(
      { id: 'integrations.change', method: 'PATCH', path: '/integrations/{id}', surface: 'admin', answer: 'json' },
      { params: [id], body },
      options,
    );
  }

  /**
   * Enable an integration. Calls are accepted from now on. Needs a session, or a key with the scope `admin:manage`, and the right `integration.manage`.
   *
   * `POST /integrations/{id}/enable`, right `integration.manage`
   */
  enable(
    id: T.IntegrationsEnableData['path']['id'],
    options?: CallOptions,
  ): Promise<T.IntegrationsEnableResponses[200]['data']> {
    return this.sender.send<T.IntegrationsEnableResponses[200]['data']>(
      {
        id: 'integrations.enable',
        method: 'POST',
        path: '/integrations/{id}/enable',
        surface: 'admin',
        answer: 'json',
      },
      { params: [id] },
      options,
    );
  }

  /**
   * Disable an integration. Calls are refused from now on. Needs a session, or a key with the scope `admin:manage`, and the right `integration.manage`.
   *
   * `POST /integrations/{id}/disable`, right `integration.manage`
   */
  disable(
    id: T.IntegrationsDisableData['path']['id'],
    options?: CallOptions,
  ): Promise<T.IntegrationsDisableResponses[200]['data']> {
    return this.sender.send<T.IntegrationsDisableResponses[200]['data']>(
      {
        id: 'integrations.disable',
        method: 'POST',
        path: '/integrations/{id}/disable',
        surface: 'admin',
        answer: 'json',
      },
      { params: [id] },
      options,
    );
  }

  /**
   * Archive an integration. Also disables it. Needs a session, or a key with the scope `admin:manage`, and the right `integration.manage`.
   *
   * `POST /integrations/{id}/archive`, right `integration.manage`
   */
  archive(
    id: T.IntegrationsArchiveData['path']['id'],
    options?: CallOptions,
  ): Promise<T.IntegrationsArchiveResponses[200]['data']> {
    return this.sender.send<T.IntegrationsArchiveResponses[200]['data']>(
      {
        id: 'integrations.archive',
        method: 'POST',
        path: '/integrations/{id}/archive',
        surface: 'admin',
        answer: 'json',
      },
      { params: [id] },
      options,
    );
  }

  /**
   * Restore an archived integration. The integration is disabled until it is enabled again. Its settings are validated as for a new integration. Needs a session, or a key with the scope `admin:manage`, and the right `integration.manage`.
   *
   * `POST /integrations/{id}/restore`, right `integration.manage`
   */
  restore(
    id: T.IntegrationsRestoreData['path']['id'],
    options?: CallOptions,
  ): Promise<T.IntegrationsRestoreResponses[200]['data']> {
    return this.sender.send<T.IntegrationsRestoreResponses[200]['data']>(
      {
        id: 'integrations.restore',
        method: 'POST',
        path: '/integrations/{id}/restore',
        surface: 'admin',
        answer: 'json',
      },
      { params: [id] },
      options,
    );
  }

  /**
   * List the last 100 calls of an integration, newest first. Failed calls show the reason. Runs are kept for 30 days, at most 1,000 for each integration. Needs a session, or a key with the scope `admin:manage`, and the right `integration.manage`.
   *
   * `GET /integrations/{id}/runs`, right `integration.manage`
   */
  runs(
    id: T.IntegrationsRunsData['path']['id'],
    query: NonNullable<T.IntegrationsRunsData['query']> = {},
    options?: CallOptions,
  ): Promise<T.IntegrationsRunsResponses[200]['data']> {
    return this.sender.send<T.IntegrationsRunsResponses[200]['data']>(
      { id: 'integrations.runs', method: 'GET', path: '/integrations/{id}/runs', surface: 'admin', answer: 'json' },
      { params: [id], query },
      options,
    );
  }

  /**
   * Try out an integration. Returns the request that the mapping makes from `body`, runs its command with the rights of the caller and rolls it back. Works while the integration is disabled. Nothing is stored and nothing is logged. Needs a session, or a key with the scope `admin:manage`, and the right `integration.manage`.
   *
   * `POST /integrations/{id}/try`, right `integration.manage`
   */
  try(
    id: T.IntegrationsTryData['path']['id'],
    body: T.IntegrationsTryData['body'],
    options?: CallOptions,
  ): Promise<T.IntegrationsTryResponses[200]['data']> {
    return this.sender.send<T.IntegrationsTryResponses[200]['data']>(
      { id: 'integrations.try', method: 'POST', path: '/integrations/{id}/try', surface: 'admin', answer: 'json' },
      { params: [id], body },
      options,
    );
  }
}

export class MailAdministration extends Group {
  /**
   * List received mails, newest first. Shows header fields, not the text. Mails with the state LISTED were not used; `reason` says why, and `error` what a command refused. They are kept for 30 days, used ones for a year. A used mail about a record or a comment that the caller may not read is shown without ids, sender and subject; without subject also if the caller may not read the title of the record. Of a mail larger than 64 MiB that came over IMAP only the start is stored; it cannot be used. `sentMail` is the mail that a bounce is about, as GET /mail/sent shows it; if its recipient is hidden, so are sender and subject of the bounce. Needs a session, or a key with the scope `admin:manage`, and the right `integration.manage`.
   *
   * `GET /mail/received`, right `integration.manage`
   */
  messages(
    query: NonNullable<T.MailMessagesData['query']> = {},
    options?: CallOptions,
  ): Promise<T.MailMessagesResponses[200]['data']> {
    return this.sender.send<T.MailMessagesResponses[200]['data']>(
      { id: 'mail.messages', method: 'GET', path: '/mail/received', surface: 'admin', answer: 'json' },
      { params: [], query },
      options,
    );
  }

  /**
   * Try a received mail again. Judges a LISTED mail again with the rights, records and mailbox of this moment. Nothing is left out: what a mail may not do, it may not do now. A mail that was used already stays as it is. Needs a session, or a key with the scope `admin:manage`, and the right `integration.manage`.
   *
   * `POST /mail/received/{messageId}/retry`, right `integration.manage`
   */
  retry(
    messageId: T.MailRetryData['path']['messageId'],
    options?: CallOptions,
  ): Promise<T.MailRetryResponses[200]['data']> {
    return this.sender.send<T.MailRetryResponses[200]['data']>(
      { id: 'mail.retry', method: 'POST', path: '/mail/received/{messageId}/retry', surface: 'admin', answer: 'json' },
      { params: [messageId] },
      options,
    );
  }

  /**
   * List mails to users, newest first. Mails about notifications of the last 91 days. PENDING waits for its first or next attempt, SENT was accepted by the mail server, BOUNCED was accepted and came back (`error` is what the bounce says; anybody who has read the mail could have sent it), FAILED was given up, DROPPED was about nothing that the recipient may see, or could not be tried for two days (`error` says so). The text is not kept. `objectId` is null for digests and for records and comments that the caller may not read. Of a mail about such a record or comment, or about a record with a user or group field that the caller may not read, `recipient` and `error` are null, too. Needs a session, or a key with the scope `admin:manage`, and the right `integration.manage`.
   *
   * `GET /mail/sent`, right `integration.manage`
   */
  sent(
    query: NonNullable<T.MailSentData['query']> = {},
    options?: CallOptions,
  ): Promise<T.MailSentResponses[200]['data']> {
    return this.sender.send<T.MailSentResponses[200]['data']>(
      { id: 'mail.sent', method: 'GET', path: '/mail/sent', surface: 'admin', answer: 'json' },
      { params: [], query },
      options,
    );
  }

  /**
   * Send a mail again. The mail is generated again from what its recipient may see now, with the same Message-ID. Mails in the state PENDING are retried automatically. Needs a session, or a key with the scope `admin:manage`, and the right `integration.manage`.
   *
   * `POST /mail/sent/{mailId}/retry`, right `integration.manage`
   */
  sendAgain(
    mailId: T.MailSendAgainData['path']['mailId'],
    options?: CallOptions,
  ): Promise<T.MailSendAgainResponses[200]['data']> {
    return this.sender.send<T.MailSendAgainResponses[200]['data']>(
      { id: 'mail.send-again', method: 'POST', path: '/mail/sent/{mailId}/retry', surface: 'admin', answer: 'json' },
      { params: [mailId] },
      options,
    );
  }
}

export class KeysAdministration extends Group {
  /**
   * List API keys. Revoked and expired keys are included. Secrets are never returned. Without role.assign, only the keys of the caller are listed. Needs a session, or a key with the scope `admin:manage`, and the right `key.manage`.
   *
   * `GET /keys`, right `key.manage`
   */
  list(options?: CallOptions): Promise<T.KeysListResponses[200]['data']> {
    return this.sender.send<T.KeysListResponses[200]['data']>(
      { id: 'keys.list', method: 'GET', path: '/keys', surface: 'admin', answer: 'json' },
      { params: [] },
      options,
    );
  }

  /**
   * Issue an API key. The key is returned only by this call. To issue a key for another user, the caller also needs the right role.assign. Needs a session, or a key with the scope `admin:manage`, and the right `key.manage`.
   *
   * `POST /keys`, right `key.manage`
   */
  create(body: T.KeysCreateData['body'], options?: CallOptions): Promise<T.KeysCreateResponses[201]['data']> {
    return this.sender.send<T.KeysCreateResponses[201]['data']>(
      { id: 'keys.create', method: 'POST', path: '/keys', surface: 'admin', answer: 'json' },
      { params: [], body },
      options,
    );
  }

  /**
   * Revoke an API key. The key stops working within a second in every process. A revoked key cannot be used again; create a new one. Needs a session, or a key with the scope `admin:manage`, and the right `key.manage`.
   *
   * `POST /keys/{id}/revoke`, right `key.manage`
   */
  revoke(id: T.KeysRevokeData['path']['id'], options?: CallOptions): Promise<T.KeysRevokeResponses[200]['data']> {
    return this.sender.send<T.KeysRevokeResponses[200]['data']>(
      { id: 'keys.revoke', method: 'POST', path: '/keys/{id}/revoke', surface: 'admin', answer: 'json' },
      { params: [id] },
      options,
    );
  }

  /**
   * Rotate an API key. The previous secret stays valid for `overlap`, an ISO 8601 duration (default PT0S). The new key is returned only by this call. Needs a session, or a key with the scope `admin:manage`, and the right `key.manage`.
   *
   * `POST /keys/{id}/rotate`, right `key.manage`
   */
  rotate(
    id: T.KeysRotateData['path']['id'],
    body?: T.KeysRotateData['body'],
    options?: CallOptions,
  ): Promise<T.KeysRotateResponses[200]['data']> {
    return this.sender.send<T.KeysRotateResponses[200]['data']>(
      { id: 'keys.rotate', method: 'POST', path: '/keys/{id}/rotate', surface: 'admin', answer: 'json' },
      { params: [id], body },
      options,
    );
  }
}

export class SessionAdministration extends Group {
  /**
   * Sign in with a password. Sets the cookie docket_session; writes need the header X-Docket-CSRF with `csrfToken`. Attempts are limited by login and by address: a 429 response gives the waiting time in Retry-After, at most 30 s. The cookie docket_device identifies the device, so that failed attempts from other devices do not delay this user. Needs no authentication.
   *
   * `POST /session`
   */
  create(body: T.SessionCreateData['body'], options?: CallOptions): Promise<T.SessionCreateResponses[201]['data']> {
    return this.sender.send<T.SessionCreateResponses[201]['data']>(
      { id: 'session.create', method: 'POST', path: '/session', surface: 'admin', answer: 'json' },
      { params: [], body },
      options,
    );
  }

  /**
   * Read the signed-in user with their rights. Returns the user, their groups and their global rights. With a session, also the token for the header X-Docket-CSRF. Needs a session, or a key with the scope `admin:manage`.
   *
   * `GET /session`
   */
  get(options?: CallOptions): Promise<T.SessionGetResponses[200]['data']> {
    return this.sender.send<T.SessionGetResponses[200]['data']>(
      { id: 'session.get', method: 'GET', path: '/session', surface: 'admin', answer: 'json' },
      { params: [] },
      options,
    );
  }

  /**
   * Sign out. Ends the session and deletes the cookie. With an API key there is no session to end, and `signedOut` is false. Needs a session, or a key with the scope `admin:manage`.
   *
   * `DELETE /session`
   */
  delete(options?: CallOptions): Promise<T.SessionDeleteResponses[200]['data']> {
    return this.sender.send<T.SessionDeleteResponses[200]['data']>(
      { id: 'session.delete', method: 'DELETE', path: '/session', surface: 'admin', answer: 'json' },
      { params: [] },
      options,
    );
  }

  /**
   * List the ways to sign in besides a password. `oidc` is null if no OpenID Connect provider is configured. Needs no authentication.
   *
   * `GET /session/ways`
   */
  ways(options?: CallOptions): Promise<T.SessionWaysResponses[200]['data']> {
    return this.sender.send<T.SessionWaysResponses[200]['data']>(
      { id: 'session.ways', method: 'GET', path: '/session/ways', surface: 'admin', answer: 'json' },
      { params: [] },
      options,
    );
  }
}

export class AccessAdministration extends Group {
  /**
   * Explain the rights of a user, in general or on one record. All roles of the user with the assignment that gives each, and all record grants. With `objectId`: the grants on its type, whether the condition of each is met, and the resulting actions and fields. Needs a session, or a key with the scope `admin:manage`, and the right `role.assign`.
   *
   * `GET /access/explanation`, right `role.assign`
   */
  explanation(
    query: NonNullable<T.AccessExplanationData['query']>,
    options?: CallOptions,
  ): Promise<T.AccessExplanationResponses[200]['data']> {
    return this.sender.send<T.AccessExplanationResponses[200]['data']>(
      { id: 'access.explanation', method: 'GET', path: '/access/explanation', surface: 'admin', answer: 'json' },
      { params: [], query },
      options,
    );
  }

  /**
   * Explain how a request of a user or key is decided. Runs the request as that user or key in a transaction that is rolled back, and answers with its status and error code and with each check: scope, rights, grants on records with their conditions and values, fields, then state, revision and workflow. `missing` marks the smallest set of rights without which the request is refused. Values that the caller may not read are named, not shown, and have no verdict of their own (`null`); records that the caller may not read and the request does not name are left out. A user without a key is treated as having every scope. Operations without authentication, a change of the own password and this operation itself cannot be explained. The call is in the audit log. Needs a session, or a key with the scope `admin:manage`, and the right `role.assign`.
   *
   * `POST /access/explain-request`, right `role.assign`
   */
  explainRequest(
    body: T.AccessExplainRequestData['body'],
    options?: CallOptions,
  ): Promise<T.AccessExplainRequestResponses[200]['data']> {
    return this.sender.send<T.AccessExplainRequestResponses[200]['data']>(
      {
        id: 'access.explainRequest',
        method: 'POST',
        path: '/access/explain-request',
        surface: 'admin',
        answer: 'json',
      },
      { params: [], body },
      options,
    );
  }
}

export class MeAdministration extends Group {
  /**
   * Read the profile of the caller. Returns the user of the session, or the owner of the key. Needs a session, or a key with the scope `admin:manage`.
   *
   * `GET /me`
   */
  get(options?: CallOptions): Promise<T.MeGetResponses[200]['data']> {
    return this.sender.send<T.MeGetResponses[200]['data']>(
      { id: 'me.get', method: 'GET', path: '/me', surface: 'admin', answer: 'json' },
      { params: [] },
      options,
    );
  }

  /**
   * Change name, locale and time zone of the caller. Omitted properties keep their values; null clears a property. With `expectedRevision`, the call is refused if the user has changed since. Login, e-mail address and external id are changed by users with the right user.administer. Needs a session, or a key with the scope `admin:manage`.
   *
   * `PATCH /me`
   */
  change(body?: T.MeChangeData['body'], options?: CallOptions): Promise<T.MeChangeResponses[200]['data']> {
    return this.sender.send<T.MeChangeResponses[200]['data']>(
      { id: 'me.change', method: 'PATCH', path: '/me', surface: 'admin', answer: 'json' },
      { params: [], body },
      options,
    );
  }

  /**
   * Change the password of the caller. Needs the current password; attempts are limited as for signing in. All other sessions of the user end. A wrong current password is 400 with the detail code WRONG_PASSWORD. A user without a password asks an administrator to set one. Needs a session, or a key with the scope `admin:manage`.
   *
   * `POST /me/password`
   */
  changePassword(
    body: T.MeChangePasswordData['body'],
    options?: CallOptions,
  ): Promise<T.MeChangePasswordResponses[200]['data']> {
    return this.sender.send<T.MeChangePasswordResponses[200]['data']>(
      { id: 'me.changePassword', method: 'POST', path: '/me/password', surface: 'admin', answer: 'json' },
      { params: [], body },
      options,
    );
  }

  /**
   * List the open sessions of the caller. The session of this request comes first, then the one last seen. Needs a session, or a key with the scope `admin:manage`.
   *
   * `GET /me/sessions`
   */
  sessions(options?: CallOptions): Promise<T.MeSessionsResponses[200]['data']> {
    return this.sender.send<T.MeSessionsResponses[200]['data']>(
      { id: 'me.sessions', method: 'GET', path: '/me/sessions', surface: 'admin', answer: 'json' },
      { params: [] },
      options,
    );
  }

  /**
   * End all other sessions of the caller. The session of this request stays open. With an API key, all sessions of its owner end. Needs a session, or a key with the scope `admin:manage`.
   *
   * `DELETE /me/sessions`
   */
  endOtherSessions(options?: CallOptions): Promise<T.MeEndOtherSessionsResponses[200]['data']> {
    return this.sender.send<T.MeEndOtherSessionsResponses[200]['data']>(
      { id: 'me.endOtherSessions', method: 'DELETE', path: '/me/sessions', surface: 'admin', answer: 'json' },
      { params: [] },
      options,
    );
  }

  /**
   * End a session of the caller. All processes reject the session from then on. Ending a session that has already ended changes nothing. Needs a session, or a key with the scope `admin:manage`.
   *
   * `DELETE /me/sessions/{id}`
   */
  endSession(
    id: T.MeEndSessionData['path']['id'],
    options?: CallOptions,
  ): Promise<T.MeEndSessionResponses[200]['data']> {
    return this.sender.send<T.MeEndSessionResponses[200]['data']>(
      { id: 'me.endSession', method: 'DELETE', path: '/me/sessions/{id}', surface: 'admin', answer: 'json' },
      { params: [id] },
      options,
    );
  }
}

export class AuditAdministration extends Group {
  /**
   * Read the audit log, newest first. Changes of configuration, keys, rights and identity, and sign-ins. Filter by type of event and by subject. Needs a session, or a key with the scope `admin:manage`, and the right `audit.read`.
   *
   * `GET /audit`, right `audit.read`
   */
  list(
    query: NonNullable<T.AuditListData['query']> = {},
    options?: CallOptions,
  ): Promise<T.AuditListResponses[200]['data']> {
    return this.sender.send<T.AuditListResponses[200]['data']>(
      { id: 'audit.list', method: 'GET', path: '/audit', surface: 'admin', answer: 'json' },
      { params: [], query },
      options,
    );
  }
}

export class DeskAdministration extends Group {
  /**
   * List records in any order. `sort` is a field of the type given by `typeId` (without it, a field of GET /desk/fields), or `number`, `title`, `typeCode`, `workflowState`, `revision`, `createdAt`, `createdBy`, `updatedAt`, `updatedBy`, `sla.dueAt`, `sla.remaining`; `-` in front sorts descending. Records with equal values are sorted by id. Records without a value, or with a value that the caller may not read, come last. Options are sorted by their configured order; users, groups and units by name. `state` and `q` work as in `GET /objects`; `q` selects at most the 1,000 newest matches. At most 5,000 records with a running time limit can be sorted by `sla.remaining`. Needs a session, or a key with the scope `admin:manage`.
   *
   * `GET /desk/objects`
   */
  objects(
    query: NonNullable<T.DeskObjectsData['query']> = {},
    options?: CallOptions,
  ): Promise<T.DeskObjectsResponses[200]['data']> {
    return this.sender.send<T.DeskObjectsResponses[200]['data']>(
      { id: 'desk.objects', method: 'GET', path: '/desk/objects', surface: 'admin', answer: 'json' },
      { params: [], query },
      options,
    );
  }

  /**
   * Export a list of records as a table. The records of `GET /desk/objects` with the same selection and order, as CSV or XLSX. Cells hold what the list shows: names of options, states, users, groups, units, services and records instead of ids. Times are in `timeZone`. In XLSX, numbers, dates and times are cells of that kind. `sla.remaining` is in hours, `sla.breached` is `words.yes` or `words.no`. At most 100,000 records. Which records are in the file and in which order is decided when it begins; values and rights are those of the moment in which a record is written. A text of more than 32,767 characters, the limit of a cell, is cut in XLSX and ends with its length in brackets. Time limit 300 s. Needs a session, or a key with the scope `admin:manage`, and the right `export.execute`.
   *
   * `POST /desk/objects/file`, right `export.execute`
   */
  export(body: T.DeskExportData['body'], options?: CallOptions): Promise<Download> {
    return this.sender.send<Download>(
      { id: 'desk.export', method: 'POST', path: '/desk/objects/file', surface: 'admin', answer: 'raw' },
      { params: [], body },
      options,
    );
  }

  /**
   * List the fields that the types of a list share. The columns that a list without `typeId` offers beside those of every record: fields of at least two of its types with the same code or role and the same data type, and fields with a role. `filter` and `sla` narrow the types to those whose records the list can have. Fields that the caller can never read are left out. An option list has the options of all types. Needs a session, or a key with the scope `admin:manage`.
   *
   * `GET /desk/fields`
   */
  fields(
    query: NonNullable<T.DeskFieldsData['query']> = {},
    options?: CallOptions,
  ): Promise<T.DeskFieldsResponses[200]['data']> {
    return this.sender.send<T.DeskFieldsResponses[200]['data']>(
      { id: 'desk.fields', method: 'GET', path: '/desk/fields', surface: 'admin', answer: 'json' },
      { params: [], query },
      options,
    );
  }

  /**
   * List record types with what the caller may do. For each type: the states of its workflow, its SLA policies, the layout of its form, and whether at least one grant of the caller allows reading, creating, changing, archiving and transitions. Needs a session, or a key with the scope `admin:manage`.
   *
   * `GET /desk/types`
   */
  types(options?: CallOptions): Promise<T.DeskTypesResponses[200]['data']> {
    return this.sender.send<T.DeskTypesResponses[200]['data']>(
      { id: 'desk.types', method: 'GET', path: '/desk/types', surface: 'admin', answer: 'json' },
      { params: [] },
      options,
    );
  }

  /**
   * Read what the caller may do on one record. The actions of all grants whose condition the record meets now. Needs a session, or a key with the scope `admin:manage`, and the right `read`.
   *
   * `GET /objects/{objectId}/permissions`, right `read`
   */
  permissions(
    objectId: T.DeskPermissionsData['path']['objectId'],
    options?: CallOptions,
  ): Promise<T.DeskPermissionsResponses[200]['data']> {
    return this.sender.send<T.DeskPermissionsResponses[200]['data']>(
      {
        id: 'desk.permissions',
        method: 'GET',
        path: '/objects/{objectId}/permissions',
        surface: 'admin',
        answer: 'json',
      },
      { params: [objectId] },
      options,
    );
  }

  /**
   * List the macros for a record. The active macros of the record's type that the roles of the caller may use, by code. Texts are in the language of the request, with the values of the record; a value that the caller may not read is left out. `transition` is null if the macro has none, or if it cannot be made now. Needs a session, or a key with the scope `admin:manage`.
   *
   * `GET /objects/{objectId}/macros`, right `read`
   */
  macros(
    objectId: T.DeskMacrosData['path']['objectId'],
    options?: CallOptions,
  ): Promise<T.DeskMacrosResponses[200]['data']> {
    return this.sender.send<T.DeskMacrosResponses[200]['data']>(
      { id: 'desk.macros', method: 'GET', path: '/objects/{objectId}/macros', surface: 'admin', answer: 'json' },
      { params: [objectId] },
      options,
    );
  }

  /**
   * Use a macro on a record. Adds the comment, makes the transition and sets the fields of the macro, all or nothing, with the caller's rights: `comment.create`, and `Private Comment` for an internal comment; `transition` and its code; `update` and the fields. `comment` replaces the prepared comment, also in a macro without one. `values` takes fields of the transition's form and overrides what the macro sets. `expectedRevision` is compared if the macro changes the record. Needs a session, or a key with the scope `admin:manage`, and the right `read`.
   *
   * `POST /objects/{objectId}/macros`, right `read`; made once, however often it is sent
   */
  applyMacro(
    objectId: T.DeskApplyMacroData['path']['objectId'],
    body: T.DeskApplyMacroData['body'],
    options?: CallOptions,
  ): Promise<T.DeskApplyMacroResponses[200]['data']> {
    return this.sender.send<T.DeskApplyMacroResponses[200]['data']>(
      {
        id: 'desk.applyMacro',
        method: 'POST',
        path: '/objects/{objectId}/macros',
        surface: 'admin',
        answer: 'json',
        keyed: true,
      },
      { params: [objectId], body },
      options,
    );
  }

  /**
   * Read how a record can be merged into another one. The relation definition `duplicate-of` for the type of the record, null if there is none or the caller may not add the relation. The transition `close-duplicate` of its workflow, null if the caller cannot make it now. Needs a session, or a key with the scope `admin:manage`, and the right `read`.
   *
   * `GET /objects/{objectId}/merge`, right `read`
   */
  offerMerge(
    objectId: T.DeskOfferMergeData['path']['objectId'],
    options?: CallOptions,
  ): Promise<T.DeskOfferMergeResponses[200]['data']> {
    return this.sender.send<T.DeskOfferMergeResponses[200]['data']>(
      { id: 'desk.offerMerge', method: 'GET', path: '/objects/{objectId}/merge', surface: 'admin', answer: 'json' },
      { params: [objectId] },
      options,
    );
  }

  /**
   * Merge a duplicate into another record. Adds the relation `duplicate-of` to the target, the comment, and with `close` makes the transition `close-duplicate`, all or nothing. Each part needs its own right; a part that is not allowed refuses the call. Needs a session, or a key with the scope `admin:manage`, and the right `relation.create`.
   *
   * `POST /objects/{objectId}/merge`, right `relation.create`; made once, however often it is sent
   */
  merge(
    objectId: T.DeskMergeData['path']['objectId'],
    body: T.DeskMergeData['body'],
    options?: CallOptions,
  ): Promise<T.DeskMergeResponses[200]['data']> {
    return this.sender.send<T.DeskMergeResponses[200]['data']>(
      {
        id: 'desk.merge',
        method: 'POST',
        path: '/objects/{objectId}/merge',
        surface: 'admin',
        answer: 'json',
        keyed: true,
      },
      { params: [objectId], body },
      options,
    );
  }

  /**
   * Read how to reach the requester of a record. The user in the field `requester`; null without one, or if the caller may not read the field. `login`, `email` and `unit` are there for callers with the right Private Comment on the record or `user.administer`, and for the requester. Needs a session, or a key with the scope `admin:manage`.
   *
   * `GET /objects/{objectId}/requester`, right `read`
   */
  requester(
    objectId: T.DeskRequesterData['path']['objectId'],
    options?: CallOptions,
  ): Promise<T.DeskRequesterResponses[200]['data']> {
    return this.sender.send<T.DeskRequesterResponses[200]['data']>(
      { id: 'desk.requester', method: 'GET', path: '/objects/{objectId}/requester', surface: 'admin', answer: 'json' },
      { params: [objectId] },
      options,
    );
  }

  /**
   * Find users to mention in a comment. At most 8 of the first 50 active users with this name or login, those who may read the record first. A comment mentions a user by `@login`. `canRead`: the user may read the record. Also needs the right comment.create on the record. Needs a session, or a key with the scope `admin:manage`, and the right `Private Comment`.
   *
   * `GET /objects/{objectId}/mentionable`, right `Private Comment`
   */
  mentionable(
    objectId: T.DeskMentionableData['path']['objectId'],
    query: NonNullable<T.DeskMentionableData['query']> = {},
    options?: CallOptions,
  ): Promise<T.DeskMentionableResponses[200]['data']> {
    return this.sender.send<T.DeskMentionableResponses[200]['data']>(
      {
        id: 'desk.mentionable',
        method: 'GET',
        path: '/objects/{objectId}/mentionable',
        surface: 'admin',
        answer: 'json',
      },
      { params: [objectId], query },
      options,
    );
  }

  /**
   * Find users, groups or units by name. For callers who may read or write a field of that data type on some record, or hold user.administer. `login` and `email` are returned for users who share their name with another active user, and always for callers with user.administer. `unit` is returned for callers who may look up units.
   *
   * With `field` and `objectId` or `typeId`, users for this field of the record, or of a new record of the type: for a field that accepts only users who can work on the record, those whom a change of the field would accept as the record is now; for a new record, users of the desk who work on some records of the type, and others who work on all of them. All other fields take any active user. The rights of at most 1,000 users are read for one answer. Needs a session, or a key with the scope `admin:manage`.
   *
   * `GET /desk/lookup`, right `user.administer`
   */
  lookup(
    query: NonNullable<T.DeskLookupData['query']>,
    options?: CallOptions,
  ): Promise<T.DeskLookupResponses[200]['data']> {
    return this.sender.send<T.DeskLookupResponses[200]['data']>(
      { id: 'desk.lookup', method: 'GET', path: '/desk/lookup', surface: 'admin', answer: 'json' },
      { params: [], query },
      options,
    );
  }

  /**
   * List records for the text that a user types. At most eight: first the records whose number or title is the text, also of one character, then those that match it as in `GET /objects`, last updated first. Needs a session, or a key with the scope `admin:manage`.
   *
   * `GET /desk/suggestions`
   */
  suggestions(
    query: NonNullable<T.DeskSuggestionsData['query']>,
    options?: CallOptions,
  ): Promise<T.DeskSuggestionsResponses[200]['data']> {
    return this.sender.send<T.DeskSuggestionsResponses[200]['data']>(
      { id: 'desk.suggestions', method: 'GET', path: '/desk/suggestions', surface: 'admin', answer: 'json' },
      { params: [], query },
      options,
    );
  }

  /**
   * Look up the names of ids. Ids that do not exist, or that the caller may not see, are left out. Needs a session, or a key with the scope `admin:manage`.
   *
   * `GET /desk/labels`
   */
  labels(
    query: NonNullable<T.DeskLabelsData['query']>,
    options?: CallOptions,
  ): Promise<T.DeskLabelsResponses[200]['data']> {
    return this.sender.send<T.DeskLabelsResponses[200]['data']>(
      { id: 'desk.labels', method: 'GET', path: '/desk/labels', surface: 'admin', answer: 'json' },
      { params: [], query },
      options,
    );
  }
}

export class HealthAdministration extends Group {
  /**
   * Read how much background work is waiting. Events that are not processed yet, webhook deliveries that are due or scheduled, and SLA timers that have expired. Each is counted up to `limit`. Needs a session, or a key with the scope `admin:manage`, and the right `config.manage`.
   *
   * `GET /health/backlog`, right `config.manage`
   */
  backlog(options?: CallOptions): Promise<T.HealthBacklogResponses[200]['data']> {
    return this.sender.send<T.HealthBacklogResponses[200]['data']>(
      { id: 'health.backlog', method: 'GET', path: '/health/backlog', surface: 'admin', answer: 'json' },
      { params: [] },
      options,
    );
  }
}

export class DeskQueuesAdministration extends Group {
  /**
   * List the caller's own and shared queues. Shared queues that name a type or a field that the caller can never read are left out. Needs a session, or a key with the scope `admin:manage`.
   *
   * `GET /desk/queues`
   */
  list(options?: CallOptions): Promise<T.DeskQueuesListResponses[200]['data']> {
    return this.sender.send<T.DeskQueuesListResponses[200]['data']>(
      { id: 'desk.queues.list', method: 'GET', path: '/desk/queues', surface: 'admin', answer: 'json' },
      { params: [] },
      options,
    );
  }

  /**
   * Save a queue. The members of the group `groupId` see the queue; a shared one is for everybody and has no group. Members may share queues with their group. All other sharing needs the right config.manage. Needs a session, or a key with the scope `admin:manage`.
   *
   * `POST /desk/queues`
   */
  create(
    body: T.DeskQueuesCreateData['body'],
    options?: CallOptions,
  ): Promise<T.DeskQueuesCreateResponses[201]['data']> {
    return this.sender.send<T.DeskQueuesCreateResponses[201]['data']>(
      { id: 'desk.queues.create', method: 'POST', path: '/desk/queues', surface: 'admin', answer: 'json' },
      { params: [], body },
      options,
    );
  }

  /**
   * List the queues that every user has, with counts. Unfinished records assigned to the caller (`mine`), to the groups of the caller (`my-groups`), and those of these groups without an assignee (`unassigned`); `overdue` records; records in a `waiting` state; records `closed` in the last seven days. They use the fields `assignee` and `assignmentGroup`, and the categories of states. Counting stops at 99. A queue is left out if no type that the caller may read has its fields, or if it is about groups and the caller is in none. Needs a session, or a key with the scope `admin:manage`.
   *
   * `GET /desk/queues/built-in`
   */
  builtIn(options?: CallOptions): Promise<T.DeskQueuesBuiltInResponses[200]['data']> {
    return this.sender.send<T.DeskQueuesBuiltInResponses[200]['data']>(
      { id: 'desk.queues.built-in', method: 'GET', path: '/desk/queues/built-in', surface: 'admin', answer: 'json' },
      { params: [] },
      options,
    );
  }

  /**
   * Follow the counts of the queues that every user has. A stream of server-sent events. The event `queues` has as its data what GET /desk/queues/built-in returns in `data`. It is sent once at the beginning, and then when the counts of the caller differ from those sent last, at most once a second; counts that take long to compute are sent less often. Changes of records that the caller may not read send nothing. A comment line is sent every 15 s. The stream ends when the key or session ends, when the service stops, and after 30 to 38 minutes; open a new one then. One caller may have 8 streams in each process of the service, above that 429 `RATE_LIMITED`; a process has at most 2,000, above that 503 `OVERLOADED`. Needs a session, or a key with the scope `admin:manage`.
   *
   * `GET /desk/queues/stream`
   */
  stream(options?: CallOptions): Promise<Download> {
    return this.sender.send<Download>(
      { id: 'desk.queues.stream', method: 'GET', path: '/desk/queues/stream', surface: 'admin', answer: 'raw' },
      { params: [] },
      options,
    );
  }

  /**
   * Change a queue. Omitted properties keep their values. A private queue can be changed by its owner, a shared one by callers with the right config.manage. Needs a session, or a key with the scope `admin:manage`.
   *
   * `PATCH /desk/queues/{queueId}`
   */
  change(
    queueId: T.DeskQueuesChangeData['path']['queueId'],
    body: T.DeskQueuesChangeData['body'],
    options?: CallOptions,
  ): Promise<T.DeskQueuesChangeResponses[200]['data']> {
    return this.sender.send<T.DeskQueuesChangeResponses[200]['data']>(
      { id: 'desk.queues.change', method: 'PATCH', path: '/desk/queues/{queueId}', surface: 'admin', answer: 'json' },
      { params: [queueId], body },
      options,
    );
  }

  /**
   * Delete a queue. A private queue can be deleted by its owner, a shared one by callers with the right config.manage. Records are not changed. Needs a session, or a key with the scope `admin:manage`.
   *
   * `DELETE /desk/queues/{queueId}`
   */
  delete(
    queueId: T.DeskQueuesDeleteData['path']['queueId'],
    body: T.DeskQueuesDeleteData['body'],
    options?: CallOptions,
  ): Promise<T.DeskQueuesDeleteResponses[200]['data']> {
    return this.sender.send<T.DeskQueuesDeleteResponses[200]['data']>(
      { id: 'desk.queues.delete', method: 'DELETE', path: '/desk/queues/{queueId}', surface: 'admin', answer: 'json' },
      { params: [queueId], body },
      options,
    );
  }
}

export class ReportsAdministration extends Group {
  /**
   * Count and measure records in groups. Active records that the caller may read. A field that the caller cannot read is refused like one that does not exist; on records where it is hidden it has no value. `reopened`, `timeToDone` and the time of completion are computed only from records whose history the caller may read. Groups by time are in chronological order, all others are sorted by number of records. If there are more than 1000, the list is cut and `truncated` is true. A duration without records is null. Time limit 3 s. Needs a session, or a key with the scope `admin:manage`.
   *
   * `POST /reports/query`
   */
  query(body: T.ReportsQueryData['body'], options?: CallOptions): Promise<T.ReportsQueryResponses[200]['data']> {
    return this.sender.send<T.ReportsQueryResponses[200]['data']>(
      { id: 'reports.query', method: 'POST', path: '/reports/query', surface: 'admin', answer: 'json' },
      { params: [], body },
      options,
    );
  }

  /**
   * List the calendars for working time in reports. Active calendars of the configuration, with their names in the language of the caller. Empty for callers who may read no type of records. Needs a session, or a key with the scope `admin:manage`.
   *
   * `GET /reports/calendars`
   */
  calendars(options?: CallOptions): Promise<T.ReportsCalendarsResponses[200]['data']> {
    return this.sender.send<T.ReportsCalendarsResponses[200]['data']>(
      { id: 'reports.calendars', method: 'GET', path: '/reports/calendars', surface: 'admin', answer: 'json' },
      { params: [] },
      options,
    );
  }
}

export class DashboardsAdministration extends Group {
  /**
   * List the caller's own and shared dashboards. Dashboards of the configuration and those that users made. Shared ones are listed for holders of their roles, members of their groups and holders of config.manage. A tile of the configuration that names a type or field that the caller can never read is left out; a dashboard of another user with such a tile is left out. Needs a session, or a key with the scope `admin:manage`.
   *
   * `GET /dashboards`
   */
  list(options?: CallOptions): Promise<T.DashboardsListResponses[200]['data']> {
    return this.sender.send<T.DashboardsListResponses[200]['data']>(
      { id: 'dashboards.list', method: 'GET', path: '/dashboards', surface: 'admin', answer: 'json' },
      { params: [] },
      options,
    );
  }

  /**
   * Create a dashboard. To share it needs the right config.manage. Needs a session, or a key with the scope `admin:manage`.
   *
   * `POST /dashboards`
   */
  create(
    body: T.DashboardsCreateData['body'],
    options?: CallOptions,
  ): Promise<T.DashboardsCreateResponses[201]['data']> {
    return this.sender.send<T.DashboardsCreateResponses[201]['data']>(
      { id: 'dashboards.create', method: 'POST', path: '/dashboards', surface: 'admin', answer: 'json' },
      { params: [], body },
      options,
    );
  }

  /**
   * Change a dashboard. Omitted properties keep their values. A private dashboard can be changed by its owner, a shared one by callers with the right config.manage. Dashboards of the configuration are changed in the bundle. Needs a session, or a key with the scope `admin:manage`.
   *
   * `PATCH /dashboards/{dashboardId}`
   */
  change(
    dashboardId: T.DashboardsChangeData['path']['dashboardId'],
    body: T.DashboardsChangeData['body'],
    options?: CallOptions,
  ): Promise<T.DashboardsChangeResponses[200]['data']> {
    return this.sender.send<T.DashboardsChangeResponses[200]['data']>(
      { id: 'dashboards.change', method: 'PATCH', path: '/dashboards/{dashboardId}', surface: 'admin', answer: 'json' },
      { params: [dashboardId], body },
      options,
    );
  }

  /**
   * Delete a dashboard. A private dashboard can be deleted by its owner, a shared one by callers with the right config.manage. Records are not changed. Needs a session, or a key with the scope `admin:manage`.
   *
   * `DELETE /dashboards/{dashboardId}`
   */
  delete(
    dashboardId: T.DashboardsDeleteData['path']['dashboardId'],
    body: T.DashboardsDeleteData['body'],
    options?: CallOptions,
  ): Promise<T.DashboardsDeleteResponses[200]['data']> {
    return this.sender.send<T.DashboardsDeleteResponses[200]['data']>(
      {
        id: 'dashboards.delete',
        method: 'DELETE',
        path: '/dashboards/{dashboardId}',
        surface: 'admin',
        answer: 'json',
      },
      { params: [dashboardId], body },
      options,
    );
  }
}

export class RulesAdministration extends Group {
  /**
   * List the runs of a rule, newest first. Each time that the rule fired, what it did or why it failed. The last 1000 runs are kept. Runs on records that the caller may not read are left out; so are those of a condition or a `since` that names hidden fields, and those on hidden comments, files and relations, unless the rule runs as the caller or the caller holds `role.assign`. Needs a session, or a key with the scope `admin:manage`, and the right `config.manage`.
   *
   * `GET /rules/{code}/runs`, right `config.manage`
   */
  runs(
    code: T.RulesRunsData['path']['code'],
    query: NonNullable<T.RulesRunsData['query']> = {},
    options?: CallOptions,
  ): Promise<T.RulesRunsResponses[200]['data']> {
    return this.sender.send<T.RulesRunsResponses[200]['data']>(
      { id: 'rules.runs', method: 'GET', path: '/rules/{code}/runs', surface: 'admin', answer: 'json' },
      { params: [code], query },
      options,
    );
  }

  /**
   * Try out a rule on a record. Runs the rule as if the event had just happened to the record and had set all its values, and rolls everything back. The answer is that of a dry run: it shows what the caller may read. If the condition or `since` of a rule that runs as another user names fields that the caller may not read, `role.assign` is needed. `rules` has the outcome `SKIPPED` if the rule does not fire. Works while the rule is disabled. Without `event`, the first one of the rule is tried. Needs a session, or a key with the scope `admin:manage`, and the right `config.manage`.
   *
   * `POST /rules/{code}/try`, right `config.manage`
   */
  try(
    code: T.RulesTryData['path']['code'],
    body: T.RulesTryData['body'],
    options?: CallOptions,
  ): Promise<T.RulesTryResponses[200]['data']> {
    return this.sender.send<T.RulesTryResponses[200]['data']>(
      { id: 'rules.try', method: 'POST', path: '/rules/{code}/try', surface: 'admin', answer: 'json' },
      { params: [code], body },
      options,
    );
  }

  /**
   * Preview on which records a rule would have fired. Compares the rule, which need not be stored, with the history of the last 30 days or of `days`, newest first, and changes nothing. Counted are records that the caller and the user of the rule may read now, if the caller may also read their history. Fields count as far as both may read them now. Changes by imports are left out, because rules react to them only if the import says so. What the rule itself would have changed is not taken into account. Of a time-based rule, the changes of `since` in these days count, with the calendar as it is now. At most 5 s of history reading: `from` says how far it came. A rule that runs as another user than the caller needs `role.assign`. Needs a session, or a key with the scope `admin:manage`, and the right `config.manage`.
   *
   * `POST /rules/preview`, right `config.manage`
   */
  preview(body: T.RulesPreviewData['body'], options?: CallOptions): Promise<T.RulesPreviewResponses[200]['data']> {
    return this.sender.send<T.RulesPreviewResponses[200]['data']>(
      { id: 'rules.preview', method: 'POST', path: '/rules/preview', surface: 'admin', answer: 'json' },
      { params: [], body },
      options,
    );
  }

  /**
   * Show which rule can fire which. Active rules in the order in which one event fires them (`order`, then code), and which rules their actions can fire, as the check of a plan sees it. Whether conditions are met then is not known. A rule that is not enabled fires none and is fired by none. Needs a session, or a key with the scope `admin:manage`, and the right `config.manage`.
   *
   * `GET /rules/graph`, right `config.manage`
   */
  graph(options?: CallOptions): Promise<T.RulesGraphResponses[200]['data']> {
    return this.sender.send<T.RulesGraphResponses[200]['data']>(
      { id: 'rules.graph', method: 'GET', path: '/rules/graph', surface: 'admin', answer: 'json' },
      { params: [] },
      options,
    );
  }
}

export class NotificationsWatchAdministration extends Group {
  /**
   * Read whether the caller watches a record. Watchers are notified of changes of the record. Needs a session, or a key with the scope `admin:manage`, and the right `read`.
   *
   * `GET /objects/{objectId}/watch`, right `read`
   */
  get(
    objectId: T.NotificationsWatchGetData['path']['objectId'],
    options?: CallOptions,
  ): Promise<T.NotificationsWatchGetResponses[200]['data']> {
    return this.sender.send<T.NotificationsWatchGetResponses[200]['data']>(
      {
        id: 'notifications.watch.get',
        method: 'GET',
        path: '/objects/{objectId}/watch',
        surface: 'admin',
        answer: 'json',
      },
      { params: [objectId] },
      options,
    );
  }

  /**
   * Watch a record. The caller is notified of comments, changes of fields and states, files, archiving, and SLA warnings and breaches, as far as the caller may see them. Changes of fields need the right `history`. The watch ends when the caller may no longer read the record. Needs a session, or a key with the scope `admin:manage`.
   *
   * `PUT /objects/{objectId}/watch`, right `read`
   */
  set(
    objectId: T.NotificationsWatchSetData['path']['objectId'],
    options?: CallOptions,
  ): Promise<T.NotificationsWatchSetResponses[200]['data']> {
    return this.sender.send<T.NotificationsWatchSetResponses[200]['data']>(
      {
        id: 'notifications.watch.set',
        method: 'PUT',
        path: '/objects/{objectId}/watch',
        surface: 'admin',
        answer: 'json',
      },
      { params: [objectId] },
      options,
    );
  }

  /**
   * Stop watching a record. Changes nothing if the caller does not watch the record. Needs a session, or a key with the scope `admin:manage`, and the right `read`.
   *
   * `DELETE /objects/{objectId}/watch`, right `read`
   */
  end(
    objectId: T.NotificationsWatchEndData['path']['objectId'],
    options?: CallOptions,
  ): Promise<T.NotificationsWatchEndResponses[200]['data']> {
    return this.sender.send<T.NotificationsWatchEndResponses[200]['data']>(
      {
        id: 'notifications.watch.end',
        method: 'DELETE',
        path: '/objects/{objectId}/watch',
        surface: 'admin',
        answer: 'json',
      },
      { params: [objectId] },
      options,
    );
  }
}

export class NotificationsAdministration extends Group {
  /**
   * List the caller's notifications, newest first. Rights are evaluated now: notifications of records, comments and fields that the caller may no longer see are left out. Notifications are kept for 90 days. Needs a session, or a key with the scope `admin:manage`.
   *
   * `GET /notifications`
   */
  list(
    query: NonNullable<T.NotificationsListData['query']> = {},
    options?: CallOptions,
  ): Promise<T.NotificationsListResponses[200]['data']> {
    return this.sender.send<T.NotificationsListResponses[200]['data']>(
      { id: 'notifications.list', method: 'GET', path: '/notifications', surface: 'admin', answer: 'json' },
      { params: [], query },
      options,
    );
  }

  /**
   * Count the caller's unread notifications. Counts what the list shows with `unread=true`. Needs a session, or a key with the scope `admin:manage`.
   *
   * `GET /notifications/count`
   */
  count(options?: CallOptions): Promise<T.NotificationsCountResponses[200]['data']> {
    return this.sender.send<T.NotificationsCountResponses[200]['data']>(
      { id: 'notifications.count', method: 'GET', path: '/notifications/count', surface: 'admin', answer: 'json' },
      { params: [] },
      options,
    );
  }

  /**
   * Follow the number of the caller's unread notifications. A stream of server-sent events. The event `unread` has as its data what GET /notifications/count returns in `data`. It is sent once at the beginning, then when the number differs from that sent last, at most once a second. A comment line is sent every 15 s. The stream ends when the key or session ends, when the service stops, and after 30 to 38 minutes; open a new one then. The limits are those of GET /desk/queues/stream. Needs a session, or a key with the scope `admin:manage`.
   *
   * `GET /notifications/stream`
   */
  stream(options?: CallOptions): Promise<Download> {
    return this.sender.send<Download>(
      { id: 'notifications.stream', method: 'GET', path: '/notifications/stream', surface: 'admin', answer: 'raw' },
      { params: [] },
      options,
    );
  }

  /**
   * Mark notifications as read. By ids, of one record, or all. Ids of notifications that are not the caller's, or that were read before, change nothing. Needs a session, or a key with the scope `admin:manage`.
   *
   * `POST /notifications/read`
   */
  read(
    body: T.NotificationsReadData['body'],
    options?: CallOptions,
  ): Promise<T.NotificationsReadResponses[200]['data']> {
    return this.sender.send<T.NotificationsReadResponses[200]['data']>(
      { id: 'notifications.read', method: 'POST', path: '/notifications/read', surface: 'admin', answer: 'json' },
      { params: [], body },
      options,
    );
  }

  /**
   * Explain which notifications of a record a user got, and why not of other events. Examines the newest 100 events of the history that the caller may see, which needs the right `history` on the record. Other users than the caller need the right `role.assign`; that call is in the audit log. What was sent is stored; `reason` is judged with the rights and choices of today: `NOT_CONCERNED` (nothing connects the user with the event), `OWN_ACTION`, `USER_ARCHIVED`, `RECORD_HIDDEN`, `COMMENT_HIDDEN`, `FIELDS_HIDDEN` (the user may not see them), `COMMENT_ARCHIVED`, `COMMENT_KNOWN` (the user has another notification of it), `NOT_WANTED` (by the choices of the user), `IMPORTED`, `PENDING`, `TOO_OLD` (notifications are kept for 90 days), `CHANGED_SINCE` (the user would be notified today), `UNKNOWN` (the caller may not read a field that decides). Needs a session, or a key with the scope `admin:manage`.
   *
   * `POST /notifications/explain`
   */
  explain(
    body: T.NotificationsExplainData['body'],
    options?: CallOptions,
  ): Promise<T.NotificationsExplainResponses[200]['data']> {
    return this.sender.send<T.NotificationsExplainResponses[200]['data']>(
      { id: 'notifications.explain', method: 'POST', path: '/notifications/explain', surface: 'admin', answer: 'json' },
      { params: [], body },
      options,
    );
  }
}

export class NotificationsChoicesAdministration extends Group {
  /**
   * Read which notifications the caller wants. For each kind whether it is listed in the console, and whether a mail is sent at once (`now`), once a day (`digest`) or `never`. Needs a session, or a key with the scope `admin:manage`.
   *
   * `GET /notifications/choices`
   */
  get(options?: CallOptions): Promise<T.NotificationsChoicesGetResponses[200]['data']> {
    return this.sender.send<T.NotificationsChoicesGetResponses[200]['data']>(
      {
        id: 'notifications.choices.get',
        method: 'GET',
        path: '/notifications/choices',
        surface: 'admin',
        answer: 'json',
      },
      { params: [] },
      options,
    );
  }

  /**
   * Choose notifications. Kinds that are left out get their defaults: the console for all, mail at once for `assigned`, `mention`, `state` and `sla`, and for public comments of records whose requester or participant the user is. A choice applies to later events. Needs a session, or a key with the scope `admin:manage`.
   *
   * `PUT /notifications/choices`
   */
  set(
    body?: T.NotificationsChoicesSetData['body'],
    options?: CallOptions,
  ): Promise<T.NotificationsChoicesSetResponses[200]['data']> {
    return this.sender.send<T.NotificationsChoicesSetResponses[200]['data']>(
      {
        id: 'notifications.choices.set',
        method: 'PUT',
        path: '/notifications/choices',
        surface: 'admin',
        answer: 'json',
      },
      { params: [], body },
      options,
    );
  }
}

export class NotificationsQuietHoursAdministration extends Group {
  /**
   * Read the caller's quiet hours. In quiet hours, in the user's own time zone, no mail is sent; it is sent at their end. Digests are sent at their end, or at 08:00. Needs a session, or a key with the scope `admin:manage`.
   *
   * `GET /notifications/quiet-hours`
   */
  get(options?: CallOptions): Promise<T.NotificationsQuietHoursGetResponses[200]['data']> {
    return this.sender.send<T.NotificationsQuietHoursGetResponses[200]['data']>(
      {
        id: 'notifications.quietHours.get',
        method: 'GET',
        path: '/notifications/quiet-hours',
        surface: 'admin',
        answer: 'json',
      },
      { params: [] },
      options,
    );
  }

  /**
   * Set or end quiet hours. The end can be on the next day: from 22:00 to 07:00. Quiet hours apply to later events. Needs a session, or a key with the scope `admin:manage`.
   *
   * `PUT /notifications/quiet-hours`
   */
  set(
    body: T.NotificationsQuietHoursSetData['body'],
    options?: CallOptions,
  ): Promise<T.NotificationsQuietHoursSetResponses[200]['data']> {
    return this.sender.send<T.NotificationsQuietHoursSetResponses[200]['data']>(
      {
        id: 'notifications.quietHours.set',
        method: 'PUT',
        path: '/notifications/quiet-hours',
        surface: 'admin',
        answer: 'json',
      },
      { params: [], body },
      options,
    );
  }
}

export class ConfigAdministration extends Group {
  /**
   * List the items of a section of the configuration. Ids, codes and names of all items of a section of the bundle. Sections whose items have endpoints of their own need the right of these endpoints too: `user.administer` for users, groups and orgUnits, `webhook.manage` for webhooks and signingSecrets, `integration.manage`, `import.manage`. Needs a session, or a key with the scope `admin:manage`, and the right `config.manage`.
   *
   * `GET /config/{section}`, right `config.manage`
   */
  list(
    section: T.ConfigListData['path']['section'],
    query: NonNullable<T.ConfigListData['query']> = {},
    options?: CallOptions,
  ): Promise<T.ConfigListResponses[200]['data']> {
    return this.sender.send<T.ConfigListResponses[200]['data']>(
      { id: 'config.list', method: 'GET', path: '/config/{section}', surface: 'admin', answer: 'json' },
      { params: [section], query },
      options,
    );
  }

  /**
   * Read one item of the configuration. `text` is the item in YAML, as in an exported bundle. `definition` is the item with all defaults filled in. Needs the same rights as the list of the section. The holders of a role are shown only to callers with `user.administer` or `role.assign`. Needs a session, or a key with the scope `admin:manage`, and the right `config.manage`.
   *
   * `GET /config/{section}/{code}`, right `config.manage`
   */
  item(
    section: T.ConfigItemData['path']['section'],
    code: T.ConfigItemData['path']['code'],
    options?: CallOptions,
  ): Promise<T.ConfigItemResponses[200]['data']> {
    return this.sender.send<T.ConfigItemResponses[200]['data']>(
      { id: 'config.item', method: 'GET', path: '/config/{section}/{code}', surface: 'admin', answer: 'json' },
      { params: [section, code] },
      options,
    );
  }

  /**
   * Preview what applying a bundle would change. Needs the right `user.administer` where the bundle names or prunes users, groups or orgUnits, and for other sections with endpoints of their own (webhooks, signingSecrets, integrations, importDefinitions) the right of these endpoints where something changes. Needs a session, or a key with the scope `admin:manage`, and the right `config.manage`.
   *
   * `POST /config/plan`, right `config.manage`
   */
  plan(body: T.ConfigPlanData['body'], options?: CallOptions): Promise<T.ConfigPlanResponses[200]['data']> {
    return this.sender.send<T.ConfigPlanResponses[200]['data']>(
      { id: 'config.plan', method: 'POST', path: '/config/plan', surface: 'admin', answer: 'json' },
      { params: [], body },
      options,
    );
  }

  /**
   * Apply a bundle in one transaction. Needs the rights of the plan, and for each change the rights of its endpoint: `role.assign` to change roles, their assignments, and connections that run as another user. For users, groups and organisation units the rules of the identity endpoints hold. Needs a session, or a key with the scope `admin:manage`, and the right `config.manage`.
   *
   * `POST /config/apply`, right `config.manage`; made once, however often it is sent
   */
  apply(body: T.ConfigApplyData['body'], options?: CallOptions): Promise<T.ConfigApplyResponses[200]['data']> {
    return this.sender.send<T.ConfigApplyResponses[200]['data']>(
      { id: 'config.apply', method: 'POST', path: '/config/apply', surface: 'admin', answer: 'json', keyed: true },
      { params: [], body },
      options,
    );
  }

  /**
   * Export the present configuration as a bundle. With `identity` also users, groups, organisation units, memberships and role assignments, which needs the right `user.administer`. Sections with a right of their own (`webhook.manage`, `integration.manage`, `import.manage`) are left out for callers without it. Needs a session, or a key with the scope `admin:manage`, and the right `config.manage`.
   *
   * `GET /config/export`, right `config.manage`
   */
  export(
    query: NonNullable<T.ConfigExportData['query']> = {},
    options?: CallOptions,
  ): Promise<T.ConfigExportResponses[200]['data']> {
    return this.sender.send<T.ConfigExportResponses[200]['data']>(
      { id: 'config.export', method: 'GET', path: '/config/export', surface: 'admin', answer: 'json' },
      { params: [], query },
      options,
    );
  }

  /**
   * List the versions of the configuration, newest first. Every change of what a bundle holds, by an apply or a call, makes a version, except changes of users, groups and orgUnits. Versions are never deleted. The first version holds the configuration as it was when the history began. Items of sections that the caller may not read are left out. Needs a session, or a key with the scope `admin:manage`, and the right `config.manage`.
   *
   * `GET /config/versions`, right `config.manage`
   */
  versions(
    query: NonNullable<T.ConfigVersionsData['query']> = {},
    options?: CallOptions,
  ): Promise<T.ConfigVersionsResponses[200]['data']> {
    return this.sender.send<T.ConfigVersionsResponses[200]['data']>(
      { id: 'config.versions', method: 'GET', path: '/config/versions', surface: 'admin', answer: 'json' },
      { params: [], query },
      options,
    );
  }

  /**
   * Export the configuration as it was at a version. A bundle like that of `GET /config/export`, with an empty list for each section that had no items. To go back to the version, plan and apply the files with `prune`: all checks and rights of an apply hold. Users, groups, orgUnits, memberships and role assignments have no versions. Needs a session, or a key with the scope `admin:manage`, and the right `config.manage`.
   *
   * `GET /config/versions/{version}`, right `config.manage`
   */
  version(
    version: T.ConfigVersionData['path']['version'],
    options?: CallOptions,
  ): Promise<T.ConfigVersionResponses[200]['data']> {
    return this.sender.send<T.ConfigVersionResponses[200]['data']>(
      { id: 'config.version', method: 'GET', path: '/config/versions/{version}', surface: 'admin', answer: 'json' },
      { params: [version] },
      options,
    );
  }

  /**
   * Compare two versions of the configuration. The items that differ, with old and new values. `from` may be the newer version. Sections that the caller may not read are left out. Needs a session, or a key with the scope `admin:manage`, and the right `config.manage`.
   *
   * `GET /config/diff`, right `config.manage`
   */
  diff(
    query: NonNullable<T.ConfigDiffData['query']>,
    options?: CallOptions,
  ): Promise<T.ConfigDiffResponses[200]['data']> {
    return this.sender.send<T.ConfigDiffResponses[200]['data']>(
      { id: 'config.diff', method: 'GET', path: '/config/diff', surface: 'admin', answer: 'json' },
      { params: [], query },
      options,
    );
  }

  /**
   * Read the JSON Schema of the bundle. Draft 07, for editors: the first line of a file, `# yaml-language-server: $schema=URL`, names it. The same for every service of a version; it contains nothing of the configuration. Needs no authentication.
   *
   * `GET /config/schema`
   */
  schema(options?: CallOptions): Promise<Download> {
    return this.sender.send<Download>(
      { id: 'config.schema', method: 'GET', path: '/config/schema', surface: 'admin', answer: 'raw' },
      { params: [] },
      options,
    );
  }
}
