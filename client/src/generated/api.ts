// Written by client/tools/generate.ts from the OpenAPI documents: change those, not this.
import { type CallOptions, Group } from '../transport.ts';
import type { Download } from '../content.ts';
import type * as T from './api-types.ts';

export class OpenapiOperations extends Group {
  /**
   * This document. Raw, without envelope. Needs no key and may be cached by its ETag.
   *
   * `GET /openapi.json`
   */
  read(options?: CallOptions): Promise<Download> {
    return this.sender.send<Download>(
      { id: 'openapi.read', method: 'GET', path: '/openapi.json', surface: 'api', answer: 'raw' },
      { params: [] },
      options,
    );
  }
}

export class MetadataOperations extends Group {
  /**
   * List the record types and dictionaries that the caller has access to. Types on which no role grants the caller an action are omitted. Names are in the default locale of the service. Needs the scope `metadata:read`.
   *
   * `GET /metadata/types`, scope `metadata:read`
   */
  types(options?: CallOptions): Promise<T.MetadataTypesResponses[200]['data']> {
    return this.sender.send<T.MetadataTypesResponses[200]['data']>(
      { id: 'metadata.types', method: 'GET', path: '/metadata/types', surface: 'api', answer: 'json' },
      { params: [] },
      options,
    );
  }

  /**
   * Read the field schema of a record type. Fields of the newest version of the type that at least one grant lets the caller read. Accepts the id or the code of the type. For the fields of one record, which may have an older version and narrower rights, read `GET /objects/{objectId}/schema`. Needs the scope `metadata:read`.
   *
   * `GET /metadata/types/{typeId}/fields`, scope `metadata:read`
   */
  fields(
    typeId: T.MetadataFieldsData['path']['typeId'],
    options?: CallOptions,
  ): Promise<T.MetadataFieldsResponses[200]['data']> {
    return this.sender.send<T.MetadataFieldsResponses[200]['data']>(
      { id: 'metadata.fields', method: 'GET', path: '/metadata/types/{typeId}/fields', surface: 'api', answer: 'json' },
      { params: [typeId] },
      options,
    );
  }
}

export class ObjectsOperations extends Group {
  /**
   * List records, newest first. A live list, not a stable snapshot: records can move between pages while they are read. `state` takes ACTIVE (default), ARCHIVED or the code of a workflow state. `q` limits the list to records that contain all the words. If there are none, records that contain some of the words are listed. Needs the scope `objects:read`.
   *
   * `GET /objects`, scope `objects:read`
   */
  list(
    query: NonNullable<T.ObjectsListData['query']> = {},
    options?: CallOptions,
  ): Promise<T.ObjectsListResponses[200]['data']> {
    return this.sender.send<T.ObjectsListResponses[200]['data']>(
      { id: 'objects.list', method: 'GET', path: '/objects', surface: 'api', answer: 'json' },
      { params: [], query },
      options,
    );
  }

  /**
   * Create a record. Each field in `values` must be writable for the caller. Fields that are left out get their default. Send an `Idempotency-Key`, so that the call can be repeated safely if the response was lost. `objectId` sets the id of the new record. Needs the scope `objects:write`, and the right `create`.
   *
   * `POST /objects`, scope `objects:write`, right `create`; made once, however often it is sent
   */
  create(body: T.ObjectsCreateData['body'], options?: CallOptions): Promise<T.ObjectsCreateResponses[201]['data']> {
    return this.sender.send<T.ObjectsCreateResponses[201]['data']>(
      { id: 'objects.create', method: 'POST', path: '/objects', surface: 'api', answer: 'json', keyed: true },
      { params: [], body },
      options,
    );
  }

  /**
   * Read a record. Returns an active or archived record with the fields that the caller may read. A record that the caller may not read is 404. With `revision` or `at`, returns the record as it was then, with `meta.asOf`; this also needs the right `history`. The rights of now decide what is visible. Values are shown as they were stored; fields that the record no longer has are left out. A revision that the record does not have, and a time before its creation, are 404. Needs the scope `objects:read`.
   *
   * `GET /objects/{objectId}`, scope `objects:read`, right `read`
   */
  get(
    objectId: T.ObjectsGetData['path']['objectId'],
    query: NonNullable<T.ObjectsGetData['query']> = {},
    options?: CallOptions,
  ): Promise<T.ObjectsGetResponses[200]['data']> {
    return this.sender.send<T.ObjectsGetResponses[200]['data']>(
      { id: 'objects.get', method: 'GET', path: '/objects/{objectId}', surface: 'api', answer: 'json' },
      { params: [objectId], query },
      options,
    );
  }

  /**
   * Change fields of a record. Each value in `changes` replaces the stored value as a whole; null clears it. Only fields that the caller may write are accepted. If all values equal the stored ones, nothing changes and the revision stays. A stale `expectedRevision` gets 409 with the fields that changed since. Needs the scope `objects:write`, and the right `update`.
   *
   * `PATCH /objects/{objectId}`, scope `objects:write`, right `update`
   */
  update(
    objectId: T.ObjectsUpdateData['path']['objectId'],
    body: T.ObjectsUpdateData['body'],
    options?: CallOptions,
  ): Promise<T.ObjectsUpdateResponses[200]['data']> {
    return this.sender.send<T.ObjectsUpdateResponses[200]['data']>(
      { id: 'objects.update', method: 'PATCH', path: '/objects/{objectId}', surface: 'api', answer: 'json' },
      { params: [objectId], body },
      options,
    );
  }

  /**
   * Archive a record. The record can still be read, but not changed; the administration API can restore it. The expected revision comes in the JSON body or in If-Match. Needs the scope `objects:write`, and the right `archive`.
   *
   * `DELETE /objects/{objectId}`, scope `objects:write`, right `archive`
   */
  archive(
    objectId: T.ObjectsArchiveData['path']['objectId'],
    body: T.ObjectsArchiveData['body'],
    options?: CallOptions,
  ): Promise<T.ObjectsArchiveResponses[200]['data']> {
    return this.sender.send<T.ObjectsArchiveResponses[200]['data']>(
      { id: 'objects.archive', method: 'DELETE', path: '/objects/{objectId}', surface: 'api', answer: 'json' },
      { params: [objectId], body },
      options,
    );
  }

  /**
   * Compare two revisions of a record. The net changes from revision `from` to revision `to`: fields that the caller may read, `workflowState` (codes) and `state`. Each has the time and the user of the last change of that field in between. `from` must not be above `to`. A revision that the record does not have is 404. Needs the scope `objects:read`, and the right `history`.
   *
   * `GET /objects/{objectId}/diff`, scope `objects:read`, right `history`
   */
  diff(
    objectId: T.ObjectsDiffData['path']['objectId'],
    query: NonNullable<T.ObjectsDiffData['query']>,
    options?: CallOptions,
  ): Promise<T.ObjectsDiffResponses[200]['data']> {
    return this.sender.send<T.ObjectsDiffResponses[200]['data']>(
      { id: 'objects.diff', method: 'GET', path: '/objects/{objectId}/diff', surface: 'api', answer: 'json' },
      { params: [objectId], query },
      options,
    );
  }

  /**
   * Read the history of a record, oldest first. Events of the record, its comments, attachments, relations and SLA instances. Changes of fields, and events about items, that the caller may not read are left out. Needs the scope `objects:read`, and the right `history`.
   *
   * `GET /objects/{objectId}/history`, scope `objects:read`, right `history`
   */
  history(
    objectId: T.ObjectsHistoryData['path']['objectId'],
    query: NonNullable<T.ObjectsHistoryData['query']> = {},
    options?: CallOptions,
  ): Promise<T.ObjectsHistoryResponses[200]['data']> {
    return this.sender.send<T.ObjectsHistoryResponses[200]['data']>(
      { id: 'objects.history', method: 'GET', path: '/objects/{objectId}/history', surface: 'api', answer: 'json' },
      { params: [objectId], query },
      options,
    );
  }

  /**
   * Read the field schema of one record. The fields of the type version that the record has, with `readOnly` where the caller may not write them on this record. Without values. Needs the scope `metadata:read`.
   *
   * `GET /objects/{objectId}/schema`, scope `metadata:read`, right `read`
   */
  schema(
    objectId: T.ObjectsSchemaData['path']['objectId'],
    options?: CallOptions,
  ): Promise<T.ObjectsSchemaResponses[200]['data']> {
    return this.sender.send<T.ObjectsSchemaResponses[200]['data']>(
      { id: 'objects.schema', method: 'GET', path: '/objects/{objectId}/schema', surface: 'api', answer: 'json' },
      { params: [objectId] },
      options,
    );
  }

  /**
   * Read an image of a rich text. A stored rich text refers to its images as `blob:<sha256>`. The image can be read by callers who may read a field, or an event of the history, that contains it. Needs the scope `objects:read`.
   *
   * `GET /objects/{objectId}/images/{sha256}`, scope `objects:read`, right `read`
   */
  image(
    objectId: T.ObjectsImageData['path']['objectId'],
    sha256: T.ObjectsImageData['path']['sha256'],
    options?: CallOptions,
  ): Promise<Download> {
    return this.sender.send<Download>(
      {
        id: 'objects.image',
        method: 'GET',
        path: '/objects/{objectId}/images/{sha256}',
        surface: 'api',
        answer: 'raw',
      },
      { params: [objectId, sha256] },
      options,
    );
  }
}

export class CommentsOperations extends Group {
  /**
   * List the comments of a record, oldest first. Internal comments are listed for callers with the right Private Comment only. Archived comments are left out. Needs the scope `comments:read`, and the right `read`.
   *
   * `GET /objects/{objectId}/comments`, scope `comments:read`, right `read`
   */
  list(
    objectId: T.CommentsListData['path']['objectId'],
    query: NonNullable<T.CommentsListData['query']> = {},
    options?: CallOptions,
  ): Promise<T.CommentsListResponses[200]['data']> {
    return this.sender.send<T.CommentsListResponses[200]['data']>(
      { id: 'comments.list', method: 'GET', path: '/objects/{objectId}/comments', surface: 'api', answer: 'json' },
      { params: [objectId], query },
      options,
    );
  }

  /**
   * Add a comment. Without `visibility` the comment is internal. An internal comment also needs the right Private Comment. A public comment by the requester or a participant of the record can fire a transition (`onRequesterReply` in the workflow). The files in `attachmentIds` belong to the comment then and are seen by those who see it. Needs the scope `comments:write`, and the right `comment.create`.
   *
   * `POST /objects/{objectId}/comments`, scope `comments:write`, right `comment.create`; made once, however often it is sent
   */
  add(
    objectId: T.CommentsAddData['path']['objectId'],
    body: T.CommentsAddData['body'],
    options?: CallOptions,
  ): Promise<T.CommentsAddResponses[201]['data']> {
    return this.sender.send<T.CommentsAddResponses[201]['data']>(
      {
        id: 'comments.add',
        method: 'POST',
        path: '/objects/{objectId}/comments',
        surface: 'api',
        answer: 'json',
        keyed: true,
      },
      { params: [objectId], body },
      options,
    );
  }

  /**
   * Change a comment. Omitted properties keep their values. If the comment is internal before or after the change, the right Private Comment is also needed. Needs the scope `comments:write`, and the right `comment.edit`.
   *
   * `PATCH /comments/{commentId}`, scope `comments:write`, right `comment.edit`
   */
  edit(
    commentId: T.CommentsEditData['path']['commentId'],
    body: T.CommentsEditData['body'],
    options?: CallOptions,
  ): Promise<T.CommentsEditResponses[200]['data']> {
    return this.sender.send<T.CommentsEditResponses[200]['data']>(
      { id: 'comments.edit', method: 'PATCH', path: '/comments/{commentId}', surface: 'api', answer: 'json' },
      { params: [commentId], body },
      options,
    );
  }

  /**
   * Archive a comment. An archived comment is not listed any more. An internal comment also needs the right Private Comment. The expected revision comes in the JSON body or in If-Match. Needs the scope `comments:write`, and the right `comment.edit`.
   *
   * `DELETE /comments/{commentId}`, scope `comments:write`, right `comment.edit`
   */
  archive(
    commentId: T.CommentsArchiveData['path']['commentId'],
    body: T.CommentsArchiveData['body'],
    options?: CallOptions,
  ): Promise<T.CommentsArchiveResponses[200]['data']> {
    return this.sender.send<T.CommentsArchiveResponses[200]['data']>(
      { id: 'comments.archive', method: 'DELETE', path: '/comments/{commentId}', surface: 'api', answer: 'json' },
      { params: [commentId], body },
      options,
    );
  }
}

export class AttachmentsOperations extends Group {
  /**
   * List the files of a record, oldest first. Archived attachments and those of archived comments are left out. The drafts of the caller come last. Use `GET /attachments/{attachmentId}/content` for the content. Needs the scope `files:read`, and the right `read`.
   *
   * `GET /objects/{objectId}/attachments`, scope `files:read`, right `read`
   */
  list(
    objectId: T.AttachmentsListData['path']['objectId'],
    options?: CallOptions,
  ): Promise<T.AttachmentsListResponses[200]['data']> {
    return this.sender.send<T.AttachmentsListResponses[200]['data']>(
      {
        id: 'attachments.list',
        method: 'GET',
        path: '/objects/{objectId}/attachments',
        surface: 'api',
        answer: 'json',
      },
      { params: [objectId] },
      options,
    );
  }

  /**
   * Add a file to a record. The decoded content is limited by the setting `attachmentMaxBytes`, 7 MiB by default. Adding an attachment does not change the revision of the record. With `draft=true` only the caller sees the file, until a comment takes it by `attachmentIds`; it is in no history and no count, and is removed after a day. Needs the scope `files:write`, and the right `attachment.add`.
   *
   * `POST /objects/{objectId}/attachments`, scope `files:write`, right `attachment.add`; made once, however often it is sent
   */
  add(
    objectId: T.AttachmentsAddData['path']['objectId'],
    body: T.AttachmentsAddData['body'],
    query: NonNullable<T.AttachmentsAddData['query']> = {},
    options?: CallOptions,
  ): Promise<T.AttachmentsAddResponses[201]['data']> {
    return this.sender.send<T.AttachmentsAddResponses[201]['data']>(
      {
        id: 'attachments.add',
        method: 'POST',
        path: '/objects/{objectId}/attachments',
        surface: 'api',
        answer: 'json',
        keyed: true,
      },
      { params: [objectId], query, body },
      options,
    );
  }

  /**
   * Download a file. Always sent as a download. Supports one byte range (206), `If-Range` with the ETag to resume, and `If-None-Match` (304). Needs the scope `files:read`, and the right `read`.
   *
   * `GET /attachments/{attachmentId}/content`, scope `files:read`, right `read`
   */
  content(attachmentId: T.AttachmentsContentData['path']['attachmentId'], options?: CallOptions): Promise<Download> {
    return this.sender.send<Download>(
      {
        id: 'attachments.content',
        method: 'GET',
        path: '/attachments/{attachmentId}/content',
        surface: 'api',
        answer: 'raw',
      },
      { params: [attachmentId] },
      options,
    );
  }

  /**
   * Archive a file. An archived attachment is not listed any more and its content cannot be downloaded. A draft is removed by its uploader with the right to add files. The expected revision comes in the JSON body or in If-Match. Needs the scope `files:write`, and the right `attachment.delete`.
   *
   * `DELETE /attachments/{attachmentId}`, scope `files:write`, right `attachment.delete`
   */
  archive(
    attachmentId: T.AttachmentsArchiveData['path']['attachmentId'],
    body: T.AttachmentsArchiveData['body'],
    options?: CallOptions,
  ): Promise<T.AttachmentsArchiveResponses[200]['data']> {
    return this.sender.send<T.AttachmentsArchiveResponses[200]['data']>(
      {
        id: 'attachments.archive',
        method: 'DELETE',
        path: '/attachments/{attachmentId}',
        surface: 'api',
        answer: 'json',
      },
      { params: [attachmentId], body },
      options,
    );
  }
}

export class RelationsOperations extends Group {
  /**
   * List the relations of a record. Relations whose other end the caller cannot read are left out. Needs the scope `relations:read`.
   *
   * `GET /objects/{objectId}/relations`, scope `relations:read`, right `read`
   */
  list(
    objectId: T.RelationsListData['path']['objectId'],
    query: NonNullable<T.RelationsListData['query']> = {},
    options?: CallOptions,
  ): Promise<T.RelationsListResponses[200]['data']> {
    return this.sender.send<T.RelationsListResponses[200]['data']>(
      { id: 'relations.list', method: 'GET', path: '/objects/{objectId}/relations', surface: 'api', answer: 'json' },
      { params: [objectId], query },
      options,
    );
  }

  /**
   * Relate the record to another. If the relation already exists, it is returned with `idempotent: true`. The cardinality of the definition and its rule against cycles are checked. Needs the scope `relations:write`, and the right `relation.create`.
   *
   * `POST /objects/{objectId}/relations`, scope `relations:write`, right `relation.create`; made once, however often it is sent
   */
  add(
    objectId: T.RelationsAddData['path']['objectId'],
    body: T.RelationsAddData['body'],
    options?: CallOptions,
  ): Promise<T.RelationsAddResponses[201]['data']> {
    return this.sender.send<T.RelationsAddResponses[201]['data']>(
      {
        id: 'relations.add',
        method: 'POST',
        path: '/objects/{objectId}/relations',
        surface: 'api',
        answer: 'json',
        keyed: true,
      },
      { params: [objectId], body },
      options,
    );
  }

  /**
   * List the active relation definitions. With `sourceObjectId`: only the definitions that the record can be the source of; needs the right relation.create on it. Needs the scope `relations:read`.
   *
   * `GET /relation-definitions`, scope `relations:read`
   */
  definitions(
    query: NonNullable<T.RelationsDefinitionsData['query']> = {},
    options?: CallOptions,
  ): Promise<T.RelationsDefinitionsResponses[200]['data']> {
    return this.sender.send<T.RelationsDefinitionsResponses[200]['data']>(
      { id: 'relations.definitions', method: 'GET', path: '/relation-definitions', surface: 'api', answer: 'json' },
      { params: [], query },
      options,
    );
  }

  /**
   * Remove a relation. A relation that follows from a field of the source cannot be removed here: change the field. The expected revision comes in the JSON body or in If-Match. Needs the scope `relations:write`, and the right `relation.delete`.
   *
   * `DELETE /relations/{relationId}`, scope `relations:write`, right `relation.delete`
   */
  archive(
    relationId: T.RelationsArchiveData['path']['relationId'],
    body: T.RelationsArchiveData['body'],
    options?: CallOptions,
  ): Promise<T.RelationsArchiveResponses[200]['data']> {
    return this.sender.send<T.RelationsArchiveResponses[200]['data']>(
      { id: 'relations.archive', method: 'DELETE', path: '/relations/{relationId}', surface: 'api', answer: 'json' },
      { params: [relationId], body },
      options,
    );
  }
}

export class WorkflowOperations extends Group {
  /**
   * Read the state of a record and the transitions that the caller can make now. Lists the transitions that start from the current state, that the caller has the right to make, and whose conditions are met now, with the fields that each of them takes. For a type without workflow `state` is null and `transitions` is empty. Needs the scope `workflow:read`, and the right `read`.
   *
   * `GET /objects/{objectId}/workflow`, scope `workflow:read`, right `read`
   */
  get(
    objectId: T.WorkflowGetData['path']['objectId'],
    options?: CallOptions,
  ): Promise<T.WorkflowGetResponses[200]['data']> {
    return this.sender.send<T.WorkflowGetResponses[200]['data']>(
      { id: 'workflow.get', method: 'GET', path: '/objects/{objectId}/workflow', surface: 'api', answer: 'json' },
      { params: [objectId] },
      options,
    );
  }

  /**
   * Make a transition. Name the revision and the state that the decision is based on. `values` takes the fields that the transition lists. Rights and conditions are checked again. The state, the values and all effects are stored in one transaction. Needs the scope `workflow:write`.
   *
   * `POST /objects/{objectId}/transitions`, scope `workflow:write`, right `transition`
   */
  transition(
    objectId: T.WorkflowTransitionData['path']['objectId'],
    body: T.WorkflowTransitionData['body'],
    options?: CallOptions,
  ): Promise<T.WorkflowTransitionResponses[200]['data']> {
    return this.sender.send<T.WorkflowTransitionResponses[200]['data']>(
      {
        id: 'workflow.transition',
        method: 'POST',
        path: '/objects/{objectId}/transitions',
        surface: 'api',
        answer: 'json',
      },
      { params: [objectId], body },
      options,
    );
  }
}

export class SearchOperations extends Group {
  /**
   * Search. By words (`q`), by a `filter` (JSON; records only), or both. Hits that match all words come first; if there are fewer than 25 of them, hits that match fewer words follow. With `q`, the 1,000 most recently updated matches are sorted by relevance and the others follow by last update. Without `q`, hits are sorted by last update, newest first. Needs the scope `search:read`.
   *
   * `GET /search`, scope `search:read`
   */
  search(
    query: NonNullable<T.SearchSearchData['query']> = {},
    options?: CallOptions,
  ): Promise<T.SearchSearchResponses[200]['data']> {
    return this.sender.send<T.SearchSearchResponses[200]['data']>(
      { id: 'search.search', method: 'GET', path: '/search', surface: 'api', answer: 'json' },
      { params: [], query },
      options,
    );
  }
}

export class BulkOperations extends Group {
  /**
   * Change up to 1000 records in one call. Items are independent and are applied in order. An item that fails changes nothing and does not affect other items. Results are in the order of the items, with the error that the endpoint for one record would return. Each item needs the right for its operation. Time limit 300 s. Needs the scope `objects:write`.
   *
   * `POST /bulk`, scope `objects:write`
   */
  run(body: T.BulkRunData['body'], options?: CallOptions): Promise<T.BulkRunResponses[200]['data']> {
    return this.sender.send<T.BulkRunResponses[200]['data']>(
      { id: 'bulk.run', method: 'POST', path: '/bulk', surface: 'api', answer: 'json' },
      { params: [], body },
      options,
    );
  }
}

export class SlaOperations extends Group {
  /**
   * List the SLA instances of a record, oldest first. Calculated for this moment: running instances from the policies and calendars in force, stopped ones as they were stopped. `dueAt` of a paused instance assumes that it is resumed now; it is null if the calendar has too few open hours. Needs the scope `sla:read`, and the right `read`.
   *
   * `GET /objects/{objectId}/sla`, scope `sla:read`, right `read`
   */
  list(objectId: T.SlaListData['path']['objectId'], options?: CallOptions): Promise<T.SlaListResponses[200]['data']> {
    return this.sender.send<T.SlaListResponses[200]['data']>(
      { id: 'sla.list', method: 'GET', path: '/objects/{objectId}/sla', surface: 'api', answer: 'json' },
      { params: [objectId] },
      options,
    );
  }

  /**
   * List the events of an SLA instance, oldest first. Starts, pauses, resumes, stops, recalculations, warnings and breaches. Needs the right to read the record. Needs the scope `sla:read`.
   *
   * `GET /sla/{instanceId}/history`, scope `sla:read`, right `read`
   */
  history(
    instanceId: T.SlaHistoryData['path']['instanceId'],
    options?: CallOptions,
  ): Promise<T.SlaHistoryResponses[200]['data']> {
    return this.sender.send<T.SlaHistoryResponses[200]['data']>(
      { id: 'sla.history', method: 'GET', path: '/sla/{instanceId}/history', surface: 'api', answer: 'json' },
      { params: [instanceId] },
      options,
    );
  }

  /**
   * Pause, resume, stop or recalculate an SLA instance. `pause` needs the status ACTIVE, `resume` PAUSED, `stop` either of them; `recalculate` is always possible and keeps the status. A pause by command lasts until a resume by command. After a resume or stop by command, the condition of the policy takes effect again only after it was false once. Only `recalculate` takes a calendar; the instance keeps it until it is recalculated without one. Needs the scope `sla:write`, and the right `sla.control`.
   *
   * `POST /sla/{instanceId}/{command}`, scope `sla:write`, right `sla.control`
   */
  command(
    instanceId: T.SlaCommandData['path']['instanceId'],
    command: T.SlaCommandData['path']['command'],
    body?: T.SlaCommandData['body'],
    options?: CallOptions,
  ): Promise<T.SlaCommandResponses[200]['data']> {
    return this.sender.send<T.SlaCommandResponses[200]['data']>(
      { id: 'sla.command', method: 'POST', path: '/sla/{instanceId}/{command}', surface: 'api', answer: 'json' },
      { params: [instanceId, command], body },
      options,
    );
  }
}

export class ImportsOperations extends Group {
  /**
   * Create an import definition. An import definition says how rows of a source become records, users, groups or organisation units. `resolver.externalIdField` names the column that holds the external id. The definition is stored; run it with `POST /imports/run`. Needs the scope `imports:write`, and the right `import.manage`.
   *
   * `POST /import-definitions`, scope `imports:write`, right `import.manage`
   */
  define(body: T.ImportsDefineData['body'], options?: CallOptions): Promise<T.ImportsDefineResponses[201]['data']> {
    return this.sender.send<T.ImportsDefineResponses[201]['data']>(
      { id: 'imports.define', method: 'POST', path: '/import-definitions', surface: 'api', answer: 'json' },
      { params: [], body },
      options,
    );
  }

  /**
   * Import rows. Each row is stored independently, with the rights of the caller on every record and field. A dry run performs all steps and rolls the changes back. Malformed content is rejected as a whole. Time limit 300 s; for large files use `docket import`. Results contain ids of records only if the caller may read them. A row that matches any other record fails with `NOT_FOUND`, without details. Needs the scope `imports:write`, and the right `import.execute`.
   *
   * `POST /imports/run`, scope `imports:write`, right `import.execute`
   */
  run(body: T.ImportsRunData['body'], options?: CallOptions): Promise<T.ImportsRunResponses[201]['data']> {
    return this.sender.send<T.ImportsRunResponses[201]['data']>(
      { id: 'imports.run', method: 'POST', path: '/imports/run', surface: 'api', answer: 'json' },
      { params: [], body },
      options,
    );
  }

  /**
   * Read an import run with the results of its rows. `rows` has the result of each row, at most 10,000; failed rows come first if there are more. Needs the scope `imports:read`, and the right `import.manage`.
   *
   * `GET /import-runs/{runId}`, scope `imports:read`, right `import.manage`
   */
  get(runId: T.ImportsGetData['path']['runId'], options?: CallOptions): Promise<T.ImportsGetResponses[200]['data']> {
    return this.sender.send<T.ImportsGetResponses[200]['data']>(
      { id: 'imports.get', method: 'GET', path: '/import-runs/{runId}', surface: 'api', answer: 'json' },
      { params: [runId] },
      options,
    );
  }
}

export class ExportsOperations extends Group {
  /**
   * Export records of a type as a file. Active records that the caller may read, newest first, with the fields that the caller may read. The file ends after the last complete row within `limit` and 16 MiB. It does not show whether there are more rows. Time limit 300 s. Needs the scope `exports:read`, and the right `export.execute`.
   *
   * `POST /exports`, scope `exports:read`, right `export.execute`
   */
  create(body: T.ExportsCreateData['body'], options?: CallOptions): Promise<Download> {
    return this.sender.send<Download>(
      { id: 'exports.create', method: 'POST', path: '/exports', surface: 'api', answer: 'raw' },
      { params: [], body },
      options,
    );
  }
}

export class ServicesOperations extends Group {
  /**
   * List the services that are available to the caller, by name. Services whose audience includes the caller, in the requested locale. Needs the scope `catalog:read`.
   *
   * `GET /services`, scope `catalog:read`
   */
  list(
    query: NonNullable<T.ServicesListData['query']> = {},
    options?: CallOptions,
  ): Promise<T.ServicesListResponses[200]['data']> {
    return this.sender.send<T.ServicesListResponses[200]['data']>(
      { id: 'services.list', method: 'GET', path: '/services', surface: 'api', answer: 'json' },
      { params: [], query },
      options,
    );
  }

  /**
   * Read a service. A service whose audience does not include the caller is 404. Needs the scope `catalog:read`.
   *
   * `GET /services/{serviceId}`, scope `catalog:read`
   */
  get(
    serviceId: T.ServicesGetData['path']['serviceId'],
    query: NonNullable<T.ServicesGetData['query']> = {},
    options?: CallOptions,
  ): Promise<T.ServicesGetResponses[200]['data']> {
    return this.sender.send<T.ServicesGetResponses[200]['data']>(
      { id: 'services.get', method: 'GET', path: '/services/{serviceId}', surface: 'api', answer: 'json' },
      { params: [serviceId], query },
      options,
    );
  }
}

export class CatalogOperations extends Group {
  /**
   * Read the active catalogue. Items that are not available to the caller, and empty categories, are left out. Null if no catalogue is active. Needs the scope `catalog:read`.
   *
   * `GET /catalog`, scope `catalog:read`
   */
  get(
    query: NonNullable<T.CatalogGetData['query']> = {},
    options?: CallOptions,
  ): Promise<T.CatalogGetResponses[200]['data']> {
    return this.sender.send<T.CatalogGetResponses[200]['data']>(
      { id: 'catalog.get', method: 'GET', path: '/catalog', surface: 'api', answer: 'json' },
      { params: [], query },
      options,
    );
  }

  /**
   * Make a request, for oneself or on behalf of another user. A `requesterId` other than the owner of the key or session needs the right `catalog.impersonate`. Availability, the right to create, values and asset are checked with the requester’s rights. The history names both users. `values` accepts only the fields of the item’s form. Needs the scope `catalog:impersonate`.
   *
   * `POST /catalog/items/{itemId}/requests`, scope `catalog:impersonate`; made once, however often it is sent
   */
  request(
    itemId: T.CatalogRequestData['path']['itemId'],
    body: T.CatalogRequestData['body'],
    options?: CallOptions,
  ): Promise<T.CatalogRequestResponses[201]['data']> {
    return this.sender.send<T.CatalogRequestResponses[201]['data']>(
      {
        id: 'catalog.request',
        method: 'POST',
        path: '/catalog/items/{itemId}/requests',
        surface: 'api',
        answer: 'json',
        keyed: true,
      },
      { params: [itemId], body },
      options,
    );
  }
}

export class KbOperations extends Group {
  /**
   * List published articles, last published first. Active versions whose audience includes the caller; one version for each article, in the requested locale if there is one. In the administration API, callers with kb.portal instead of kb.read get portal articles only. Needs the scope `kb:read`.
   *
   * `GET /kb/articles`, scope `kb:read`, right `kb.read`
   */
  list(query: NonNullable<T.KbListData['query']> = {}, options?: CallOptions): Promise<T.KbListResponses[200]['data']> {
    return this.sender.send<T.KbListResponses[200]['data']>(
      { id: 'kb.list', method: 'GET', path: '/kb/articles', surface: 'api', answer: 'json' },
      { params: [], query },
      options,
    );
  }

  /**
   * Create a draft of an article. Creates the first draft of a new article, or, if `code` exists in the base, a draft of a new version. The visibility must be that of the base, the locale one of its locales. The text comes in `body` or in `bodyDocument`. Needs the scope `kb:write`, and the right `kb.write`.
   *
   * `POST /kb/articles`, scope `kb:write`, right `kb.write`
   */
  create(body: T.KbCreateData['body'], options?: CallOptions): Promise<T.KbCreateResponses[201]['data']> {
    return this.sender.send<T.KbCreateResponses[201]['data']>(
      { id: 'kb.create', method: 'POST', path: '/kb/articles', surface: 'api', answer: 'json' },
      { params: [], body },
      options,
    );
  }

  /**
   * Read a published article. Returns the active version in the requested locale, or in the default locale, or in any. An article whose audience does not include the caller is 404. Needs the scope `kb:read`, and the right `kb.read`.
   *
   * `GET /kb/articles/{articleId}`, scope `kb:read`, right `kb.read`
   */
  get(
    articleId: T.KbGetData['path']['articleId'],
    query: NonNullable<T.KbGetData['query']> = {},
    options?: CallOptions,
  ): Promise<T.KbGetResponses[200]['data']> {
    return this.sender.send<T.KbGetResponses[200]['data']>(
      { id: 'kb.get', method: 'GET', path: '/kb/articles/{articleId}', surface: 'api', answer: 'json' },
      { params: [articleId], query },
      options,
    );
  }

  /**
   * Read an image of an article. The image can be read by callers who may read a version that contains it, and by callers with the right kb.write. Needs the scope `kb:read`, and the right `kb.read`.
   *
   * `GET /kb/articles/{articleId}/images/{sha256}`, scope `kb:read`, right `kb.read`
   */
  image(
    articleId: T.KbImageData['path']['articleId'],
    sha256: T.KbImageData['path']['sha256'],
    options?: CallOptions,
  ): Promise<Download> {
    return this.sender.send<Download>(
      {
        id: 'kb.image',
        method: 'GET',
        path: '/kb/articles/{articleId}/images/{sha256}',
        surface: 'api',
        answer: 'raw',
      },
      { params: [articleId, sha256] },
      options,
    );
  }

  /**
   * Change a draft. Omitted properties keep their values; null clears a property. Section, code and locale of a version cannot be changed. Needs the scope `kb:write`, and the right `kb.write`.
   *
   * `PATCH /kb/article-versions/{versionId}`, scope `kb:write`, right `kb.write`
   */
  edit(
    versionId: T.KbEditData['path']['versionId'],
    body?: T.KbEditData['body'],
    options?: CallOptions,
  ): Promise<T.KbEditResponses[200]['data']> {
    return this.sender.send<T.KbEditResponses[200]['data']>(
      { id: 'kb.edit', method: 'PATCH', path: '/kb/article-versions/{versionId}', surface: 'api', answer: 'json' },
      { params: [versionId], body },
      options,
    );
  }

  /**
   * Publish a draft. The version needs an audience. The version that was active in this locale is archived in the same transaction. Needs the scope `kb:write`, and the right `kb.publish`.
   *
   * `POST /kb/articles/publish`, scope `kb:write`, right `kb.publish`
   */
  publish(body: T.KbPublishData['body'], options?: CallOptions): Promise<T.KbPublishResponses[200]['data']> {
    return this.sender.send<T.KbPublishResponses[200]['data']>(
      { id: 'kb.publish', method: 'POST', path: '/kb/articles/publish', surface: 'api', answer: 'json' },
      { params: [], body },
      options,
    );
  }

  /**
   * Archive an article in one locale. Archives the active version and the draft of one locale. `version` is the token that `GET /kb/articles/{articleId}/material` returns; if the article was changed since, the call is refused with VERSION_TOKEN_STALE. `confirmed` must be true. Needs the scope `kb:write`, and the right `kb.write`.
   *
   * `POST /kb/articles/archive`, scope `kb:write`, right `kb.write`
   */
  archive(body: T.KbArchiveData['body'], options?: CallOptions): Promise<T.KbArchiveResponses[200]['data']> {
    return this.sender.send<T.KbArchiveResponses[200]['data']>(
      { id: 'kb.archive', method: 'POST', path: '/kb/articles/archive', surface: 'api', answer: 'json' },
      { params: [], body },
      options,
    );
  }
}

export class WebhooksOperations extends Group {
  /**
   * List webhook subscriptions. Archived subscriptions are included. Signing secrets are never returned. Needs the scope `webhooks:manage`, and the right `webhook.manage`.
   *
   * `GET /webhooks`, scope `webhooks:manage`, right `webhook.manage`
   */
  list(options?: CallOptions): Promise<T.WebhooksListResponses[200]['data']> {
    return this.sender.send<T.WebhooksListResponses[200]['data']>(
      { id: 'webhooks.list', method: 'GET', path: '/webhooks', surface: 'api', answer: 'json' },
      { params: [] },
      options,
    );
  }

  /**
   * Create a webhook subscription. Saving sends nothing. Unless `enabled` is false, the signing secret must have a value. To name another user as `executionPrincipalId`, the caller needs role.assign. Needs the scope `webhooks:manage`, and the right `webhook.manage`.
   *
   * `POST /webhooks`, scope `webhooks:manage`, right `webhook.manage`
   */
  create(body: T.WebhooksCreateData['body'], options?: CallOptions): Promise<T.WebhooksCreateResponses[201]['data']> {
    return this.sender.send<T.WebhooksCreateResponses[201]['data']>(
      { id: 'webhooks.create', method: 'POST', path: '/webhooks', surface: 'api', answer: 'json' },
      { params: [], body },
      options,
    );
  }

  /**
   * List the last 100 deliveries. Deliveries of one subscription or of all, newest event first, each with its attempts. With `status`, the last 100 deliveries with these statuses. Needs the scope `webhooks:manage`, and the right `webhook.manage`.
   *
   * `GET /webhook-deliveries`, scope `webhooks:manage`, right `webhook.manage`
   */
  deliveries(
    query: NonNullable<T.WebhooksDeliveriesData['query']> = {},
    options?: CallOptions,
  ): Promise<T.WebhooksDeliveriesResponses[200]['data']> {
    return this.sender.send<T.WebhooksDeliveriesResponses[200]['data']>(
      { id: 'webhooks.deliveries', method: 'GET', path: '/webhook-deliveries', surface: 'api', answer: 'json' },
      { params: [], query },
      options,
    );
  }
}

export class FeedOperations extends Group {
  /**
   * Read what happened, in order and without gaps. Events after a cursor, in the order of a journal of all changes; those of one record in the order of its revisions. After a cursor no event is skipped and none comes twice, however late a change was committed, also across restarts and failovers without loss. An event of a record needs the rights `read` and `history` on it now, and holds what the history would show; events of articles need the right `kb.read` and the audience. If the caller loses the right to read a record, no event says so. Events of comments, files, relations, SLA instances and articles also need the scopes `comments:read`, `files:read`, `relations:read`, `sla:read` and `kb:read`: without the scope they are left out, and 403 `SCOPE_MISSING` if `eventTypes` names them. A page examines at most 10,000 places of the journal, and ends early if its events are large, so that it can be short or empty: go on from `next` until `caughtUp`. After a restore or a failover that lost changes, a cursor behind them is refused with 409 `CURSOR_REWOUND`.
   *
   * With `Accept: text/event-stream` the answer is a stream of server-sent events: `id` is the cursor, `event` the kind, `data` the event. A client goes on after its last event by `Last-Event-ID`, which takes precedence over `after`. A comment line is sent every 15 s. The stream ends when the key is revoked, when the service stops, and after 30 to 38 minutes. One caller may have 8 streams and 64 waiting requests in each process of the service, above that 429 `RATE_LIMITED`. Needs the scope `objects:read`.
   *
   * `GET /changes`, scope `objects:read`
   */
  read(
    query: NonNullable<T.FeedReadData['query']> = {},
    options?: CallOptions,
  ): Promise<T.FeedReadResponses[200]['data']> {
    return this.sender.send<T.FeedReadResponses[200]['data']>(
      { id: 'feed.read', method: 'GET', path: '/changes', surface: 'api', answer: 'json' },
      { params: [], query },
      options,
    );
  }
}

export class IdentityOperations extends Group {
  /**
   * List users by name, without archived ones. All active users in one list. Needs the scope `identity:read`, and the right `user.administer`.
   *
   * `GET /identity/users`, scope `identity:read`, right `user.administer`
   */
  users(options?: CallOptions): Promise<T.IdentityUsersResponses[200]['data']> {
    return this.sender.send<T.IdentityUsersResponses[200]['data']>(
      { id: 'identity.users', method: 'GET', path: '/identity/users', surface: 'api', answer: 'json' },
      { params: [] },
      options,
    );
  }

  /**
   * Create a user. Sets no password and assigns no role. Login and e-mail address are unique regardless of case, and the external id is unique. Archived users count too. Needs the scope `identity:write`, and the right `user.administer`.
   *
   * `POST /identity/users`, scope `identity:write`, right `user.administer`
   */
  createUser(
    body: T.IdentityCreateUserData['body'],
    options?: CallOptions,
  ): Promise<T.IdentityCreateUserResponses[201]['data']> {
    return this.sender.send<T.IdentityCreateUserResponses[201]['data']>(
      { id: 'identity.createUser', method: 'POST', path: '/identity/users', surface: 'api', answer: 'json' },
      { params: [], body },
      options,
    );
  }

  /**
   * List groups by name, without archived ones. All active groups in one list, without their members. Needs the scope `identity:read`, and the right `user.administer`.
   *
   * `GET /identity/groups`, scope `identity:read`, right `user.administer`
   */
  groups(options?: CallOptions): Promise<T.IdentityGroupsResponses[200]['data']> {
    return this.sender.send<T.IdentityGroupsResponses[200]['data']>(
      { id: 'identity.groups', method: 'GET', path: '/identity/groups', surface: 'api', answer: 'json' },
      { params: [] },
      options,
    );
  }

  /**
   * Create a group without members. The code is unique, also among archived groups. Add members with `POST /identity/group-memberships`. Needs the scope `identity:write`, and the right `user.administer`.
   *
   * `POST /identity/groups`, scope `identity:write`, right `user.administer`
   */
  createGroup(
    body: T.IdentityCreateGroupData['body'],
    options?: CallOptions,
  ): Promise<T.IdentityCreateGroupResponses[201]['data']> {
    return this.sender.send<T.IdentityCreateGroupResponses[201]['data']>(
      { id: 'identity.createGroup', method: 'POST', path: '/identity/groups', surface: 'api', answer: 'json' },
      { params: [], body },
      options,
    );
  }

  /**
   * List organisation units by name, without archived ones. All active units in one list; `parentId` is the unit above. Needs the scope `identity:read`, and the right `user.administer`.
   *
   * `GET /identity/org-units`, scope `identity:read`, right `user.administer`
   */
  orgUnits(options?: CallOptions): Promise<T.IdentityOrgUnitsResponses[200]['data']> {
    return this.sender.send<T.IdentityOrgUnitsResponses[200]['data']>(
      { id: 'identity.orgUnits', method: 'GET', path: '/identity/org-units', surface: 'api', answer: 'json' },
      { params: [] },
      options,
    );
  }

  /**
   * Create an organisation unit. Without `code`, a code is derived from the name. Needs the scope `identity:write`, and the right `user.administer`.
   *
   * `POST /identity/org-units`, scope `identity:write`, right `user.administer`
   */
  createOrgUnit(
    body: T.IdentityCreateOrgUnitData['body'],
    options?: CallOptions,
  ): Promise<T.IdentityCreateOrgUnitResponses[201]['data']> {
    return this.sender.send<T.IdentityCreateOrgUnitResponses[201]['data']>(
      { id: 'identity.createOrgUnit', method: 'POST', path: '/identity/org-units', surface: 'api', answer: 'json' },
      { params: [], body },
      options,
    );
  }

  /**
   * Add a user or a group to a group. The caller must already have everything that the membership grants: the roles of the group and of the groups that contain it, access by row conditions with $myGroups, and audiences. A caller has it as a member of the group, through a role whose `memberships` name the group, or with the right role.assign. Only callers with role.assign can change their own memberships. An existing membership is returned unchanged. Needs the scope `identity:write`, and the right `user.administer`.
   *
   * `POST /identity/group-memberships`, scope `identity:write`, right `user.administer`
   */
  addGroupMember(
    body: T.IdentityAddGroupMemberData['body'],
    options?: CallOptions,
  ): Promise<T.IdentityAddGroupMemberResponses[201]['data']> {
    return this.sender.send<T.IdentityAddGroupMemberResponses[201]['data']>(
      {
        id: 'identity.addGroupMember',
        method: 'POST',
        path: '/identity/group-memberships',
        surface: 'api',
        answer: 'json',
      },
      { params: [], body },
      options,
    );
  }

  /**
   * Put a user into an organisation unit, or move the user. A user is in at most one unit. `expectedOrganizationUnitId` is the unit that the user is in now; without it, or with null, the user must be in none. If the user is in the unit already, nothing changes. The caller must already have everything that the unit grants, as for a membership of a group. Needs the scope `identity:write`, and the right `user.administer`.
   *
   * `POST /identity/org-memberships`, scope `identity:write`, right `user.administer`
   */
  setOrgMember(
    body: T.IdentitySetOrgMemberData['body'],
    options?: CallOptions,
  ): Promise<T.IdentitySetOrgMemberResponses[201]['data']> {
    return this.sender.send<T.IdentitySetOrgMemberResponses[201]['data']>(
      {
        id: 'identity.setOrgMember',
        method: 'POST',
        path: '/identity/org-memberships',
        surface: 'api',
        answer: 'json',
      },
      { params: [], body },
      options,
    );
  }
}

export class IntegrationsOperations extends Group {
  /**
   * Set up an inbound integration. The integration is disabled unless `enabled` is true. To name another user as `executionPrincipalId`, the caller needs role.assign. Calls always run with the rights of the key’s owner. Needs the scope `integrations:manage`, and the right `integration.manage`.
   *
   * `POST /integrations`, scope `integrations:manage`, right `integration.manage`
   */
  create(
    body: T.IntegrationsCreateData['body'],
    options?: CallOptions,
  ): Promise<T.IntegrationsCreateResponses[201]['data']> {
    return this.sender.send<T.IntegrationsCreateResponses[201]['data']>(
      { id: 'integrations.create', method: 'POST', path: '/integrations', surface: 'api', answer: 'json' },
      { params: [], body },
      options,
    );
  }
}

export class InboundOperations extends Group {
  /**
   * Call an integration. The body is any JSON that the mapping of the integration can read. The configured command runs with the rights of the key’s owner, with the same checks and errors as its own endpoint. `data` is the response of that endpoint. Needs the scope `integrations:execute`.
   *
   * `POST /inbound/{integrationId}`, scope `integrations:execute`; made once, however often it is sent
   */
  run(
    integrationId: T.InboundRunData['path']['integrationId'],
    body?: T.InboundRunData['body'],
    options?: CallOptions,
  ): Promise<T.InboundRunResponses[201]['data']> {
    return this.sender.send<T.InboundRunResponses[201]['data']>(
      {
        id: 'inbound.run',
        method: 'POST',
        path: '/inbound/{integrationId}',
        surface: 'api',
        answer: 'json',
        keyed: true,
      },
      { params: [integrationId], body },
      options,
    );
  }
}

export class MailOperations extends Group {
  /**
   * Hand in a received mail. For mail servers that pass mail on. `raw` is the whole message in base64. It becomes a record, a comment, or an entry in the list of messages that were not used; all of these answer 201, so that the server does not repeat it. A message that was handed in before has no second effect. `state` and `reason` are shown to callers with integration.manage, ids of records and comments to those who may read them. `Authentication-Results` of the message count only if the owner of the key holds integration.manage. Needs the scope `integrations:execute`.
   *
   * `POST /mailboxes/{code}/messages`, scope `integrations:execute`
   */
  receive(
    code: T.MailReceiveData['path']['code'],
    body: T.MailReceiveData['body'],
    options?: CallOptions,
  ): Promise<T.MailReceiveResponses[201]['data']> {
    return this.sender.send<T.MailReceiveResponses[201]['data']>(
      { id: 'mail.receive', method: 'POST', path: '/mailboxes/{code}/messages', surface: 'api', answer: 'json' },
      { params: [code], body },
      options,
    );
  }
}

/** What a receiver of webhooks gets, by kind of event. */
export interface Events {
  ObjectCreated: T.ObjectCreatedDelivery;
  ObjectUpdated: T.ObjectUpdatedDelivery;
  ObjectTransitioned: T.ObjectTransitionedDelivery;
  ObjectArchived: T.ObjectArchivedDelivery;
  ObjectRestored: T.ObjectRestoredDelivery;
  CommentAdded: T.CommentAddedDelivery;
  CommentUpdated: T.CommentUpdatedDelivery;
  CommentArchived: T.CommentArchivedDelivery;
  AttachmentAdded: T.AttachmentAddedDelivery;
  AttachmentArchived: T.AttachmentArchivedDelivery;
  RelationAdded: T.RelationAddedDelivery;
  RelationArchived: T.RelationArchivedDelivery;
  SlaStarted: T.SlaStartedDelivery;
  SlaPaused: T.SlaPausedDelivery;
  SlaResumed: T.SlaResumedDelivery;
  SlaStopped: T.SlaStoppedDelivery;
  SlaRecalculated: T.SlaRecalculatedDelivery;
  SlaWarning: T.SlaWarningDelivery;
  SlaBreached: T.SlaBreachedDelivery;
  ArticlePublished: T.ArticlePublishedDelivery;
  ArticleArchived: T.ArticleArchivedDelivery;
}
