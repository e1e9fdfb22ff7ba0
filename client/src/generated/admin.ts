// Written by client/tools/generate.ts from the OpenAPI documents: change those, not this.
import { type CallOptions, Group } from '../transport.ts';
import type * as T from './admin-types.ts';

export class ObjectsAdministration extends Group {
  /**
   * Take an archived record back.
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
   * Explain the elapsed time of an SLA instance. Every interval from the start to now, or to the stop, without gaps, and why it counted or not. The counted ones sum to `elapsedMs` exactly.
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
   * Say when something opened at a moment would be due. By a policy (`policy`, and `values` of the record for its targets), or by `calendar` and `target`, which also stand in for what the policy says. Nothing is stored.
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
   * Show the days of a calendar with their opening hours in real time.
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
   * List the defined imports.
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
   * List import runs, newest first.
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
   * Show what each row would change. The mapped fields before and after each of the first rows, as far as the caller may read them. Nothing is kept, not even a run.
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
   * Take an import run back. Row by row, the last first: what was created is archived, what was changed gets its former values. Rows whose record was changed since are skipped. May be repeated.
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
   * Read a version of an article, whatever its state.
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
   * List the knowledge bases with their sections.
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
   * List versions of articles, drafts too, last changed first.
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
   * Read for whom a version is.
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
   * Say for whom a version is. In place of what was said before. For an active version the right kb.publish too, and never nobody.
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
   * Make a draft of an archived version again.
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
   * Read the opaque token that archiving needs. It stands for what the article has in one locale now, and is stale once any of that was changed.
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
   * Change a webhook subscription. Only while it is disabled. What is left out stays; `filters` replaces the stored ones whole.
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
   * Enable a webhook subscription. The confirmation that saving is not: from now on events are delivered. Refused while the secret has no value.
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
   * Disable a webhook subscription. What is queued waits, and an attempt that is under way goes on.
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
   * Archive a webhook subscription. As disabling, and for good.
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
   * Restore an archived webhook subscription. It stays disabled.
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
   * Read a delivery with its attempts.
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
   * Attempt a failed delivery once more. The subscription must be enabled and not archived.
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
}

export class SecretsAdministration extends Group {
  /**
   * List signing secrets. Never their values.
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
   * Create a signing secret. The secret is shown this once.
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
   * Give a signing secret a new value. The value before goes on signing beside it for `overlap`, an ISO 8601 duration, PT0S unless given.
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
   * Change a person. What is left out stays as it is, null takes away; values equal to the stored ones change nothing. The login stays: the configuration names people by it.
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
   * Archive a person. Their keys and sessions stop within a second everywhere; their name stays on what they did.
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
   * Take an archived person back. With the memberships, roles and keys that they had; they sign in anew.
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
   * Change a group. What is left out stays as it is, null takes away; values equal to the stored ones change nothing. The code stays: the configuration names groups by it.
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
   * Archive a group. Its members keep the membership and lose what it gave them.
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
   * Take an archived group back. Its members get its roles again, so whoever restores it must hold them or may assign roles.
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
   * Change an organisation unit. What is left out stays as it is, null takes away; values equal to the stored ones change nothing. The code stays: the configuration names units by it.
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
   * Archive an organisation unit. Its people and the units below stay where they are.
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
   * Take an archived organisation unit back.
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
   * List memberships of groups, oldest first.
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
   * Take a member out of a group.
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
   * List who is in which organisation unit, oldest first.
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
   * Take a person out of their organisation unit.
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
   * List archived people, groups and organisation units.
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
   * Set the console password of a person. Their sessions end. Whoever may not assign roles can set it only for people who hold no role beyond their own: a password lets one in as that person.
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
   * List integrations by code, archived ones too.
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
   * Change an integration. Only while it is disabled. What is left out stays; `config` replaces the stored one whole.
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
   * Enable an integration. It takes calls from now on.
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
   * Disable an integration. Calls are refused from now on.
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
   * Archive an integration. It is disabled with it.
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
   * Take an archived integration back. It comes back disabled, and is judged as if it were made now.
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
   * Read what the last 100 calls of an integration came to, newest first. With the reason of each failure. Kept for 30 days, at most 1,000 calls of each integration.
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
   * Show what a body would become. Gives the request that the mapping makes of `body`, runs its command with the caller’s own rights and undoes it. Works while the integration is disabled; nothing stays and nothing is logged.
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

export class KeysAdministration extends Group {
  /**
   * List API keys.
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
   * Issue an API key. The key is shown this once. A key of another owner needs the right role.assign too.
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
   * Revoke an API key.
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
   * Give an API key a new secret. The old secret goes on for `overlap`, an ISO 8601 duration, PT0S unless given.
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
   * Sign in with a password. Sets the cookie docket_session; writes need the header X-Docket-CSRF with `csrfToken`.
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
   * Who is signed in, and with which rights.
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
   * Sign out.
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
   * Say how one can sign in beside a password.
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
   * Explain what a person may do, at large or with one record. Every role that the person holds, the way they come to it, and each record grant; with `objectId` the grants on its type, whether the condition of each holds, and what they come to.
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
}

export class AuditAdministration extends Group {
  /**
   * Read the audit log, newest first.
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
   * List the record types with what the caller may do on some record of each.
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
   * Say what the caller may do on one record. The actions of the grants that admit the record now. They are judged anew with every call.
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
   * Find people, groups or units to choose from, by name. For whoever may write, or read, a field of that data type on some record, or holds user.administer. Names alone.
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
   * Name the things that ids in values stand for. Ids that name nothing, or nothing that the caller may see, are left out.
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
   * Say what waits for background work, and since when. Events that no consumer has taken, webhook deliveries that are due or wait for their time, SLA timers that ran out and are not told yet. Each is counted up to `limit`.
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
   * List one's own queues and the shared ones. Shared queues that name a type or a field which the caller may never read are left out.
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
   * Save a queue. A shared one needs the right config.manage.
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
   * Change a queue.
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
   * Remove a queue.
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

export class ConfigAdministration extends Group {
  /**
   * List what a section of the configuration holds. Ids, codes and names of all items of a section of the bundle. Sections whose items have endpoints of their own need the right of these endpoints too: `user.administer` for users, groups and orgUnits, `webhook.manage` for webhooks and signingSecrets, `integration.manage`, `import.manage`.
   *
   * `GET /config/{section}`, right `config.manage`
   */
  list(
    section: T.ConfigListData['path']['section'],
    options?: CallOptions,
  ): Promise<T.ConfigListResponses[200]['data']> {
    return this.sender.send<T.ConfigListResponses[200]['data']>(
      { id: 'config.list', method: 'GET', path: '/config/{section}', surface: 'admin', answer: 'json' },
      { params: [section] },
      options,
    );
  }

  /**
   * Read one item of the configuration. As a bundle would write it (`text`, YAML), and with every default filled in (`definition`). Needs the same rights as the list of the section. Who holds a role is shown to callers with `user.administer` or `role.assign`.
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
   * Say what applying a bundle would create, change or leave. Needs the right `user.administer` where the bundle names or prunes users, groups or orgUnits, and for other sections with endpoints of their own (webhooks, signingSecrets, integrations, importDefinitions) the right of these endpoints where something changes.
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
   * Apply a bundle in one transaction. Needs the rights that the plan needs, and those of the endpoints for each change: `role.assign` to change roles and their assignments, and connections that run as somebody else. Users, groups and organisation units are changed under the rules of the identity endpoints.
   *
   * `POST /config/apply`, right `config.manage`
   */
  apply(body: T.ConfigApplyData['body'], options?: CallOptions): Promise<T.ConfigApplyResponses[200]['data']> {
    return this.sender.send<T.ConfigApplyResponses[200]['data']>(
      { id: 'config.apply', method: 'POST', path: '/config/apply', surface: 'admin', answer: 'json' },
      { params: [], body },
      options,
    );
  }

  /**
   * Write the present configuration as a bundle. With `identity` also users, groups, organisation units, memberships and role assignments, which needs the right `user.administer`. Sections with a right of their own (`webhook.manage`, `integration.manage`, `import.manage`) are left out for callers without it.
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
}
