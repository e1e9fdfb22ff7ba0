/** Types of requests and answers, derived from the server's declarations. */
import type * as access from '../../../src/domain/access/contract.ts';
import type * as accessExplain from '../../../src/domain/access/contract-explain.ts';
import type * as attachments from '../../../src/domain/attachments/contract.ts';
import type * as bulk from '../../../src/domain/bulk/contract.ts';
import type * as catalog from '../../../src/domain/catalog/contract.ts';
import type * as comments from '../../../src/domain/comments/contract.ts';
import type * as configuration from '../../../src/configuration/contract.ts';
import type * as desk from '../../../src/domain/desk/contract.ts';
import type * as deskFields from '../../../src/domain/desk/contract-fields.ts';
import type * as deskRecord from '../../../src/domain/desk/contract-record.ts';
import type * as identity from '../../../src/domain/identity/contract.ts';
import type * as identityAdmin from '../../../src/domain/identity/contract-admin.ts';
import type * as imports from '../../../src/domain/imports/contract.ts';
import type * as inbound from '../../../src/domain/inbound/contract.ts';
import type * as knowledge from '../../../src/domain/knowledge/contract.ts';
import type * as knowledgeAdmin from '../../../src/domain/knowledge/contract-administration.ts';
import type * as mail from '../../../src/domain/mail/contract.ts';
import type * as me from '../../../src/domain/access/contract-me.ts';
import type * as metadata from '../../../src/domain/metadata/contract.ts';
import type * as notifications from '../../../src/domain/notifications/contract.ts';
import type * as objects from '../../../src/domain/objects/contract.ts';
import type * as relations from '../../../src/domain/relations/contract.ts';
import type * as dashboards from '../../../src/domain/reports/contract-dashboards.ts';
import type * as reports from '../../../src/domain/reports/contract.ts';
import type * as rules from '../../../src/domain/rules/contract.ts';
import type * as rulePreview from '../../../src/domain/rules/contract-preview.ts';
import type * as search from '../../../src/domain/search/contract.ts';
import type * as sla from '../../../src/domain/sla/contract.ts';
import type * as webhooks from '../../../src/domain/webhooks/contract.ts';
import type * as workflow from '../../../src/domain/workflow/contract.ts';
import type { Static } from 'typebox';
import type { AnswerOf } from './client.ts';

export type { DataType, FieldConstraints, FieldSchema } from './fields.ts';
export type {
  access,
  accessExplain,
  attachments,
  bulk,
  comments,
  configuration,
  dashboards,
  desk,
  deskFields,
  deskRecord,
  identity,
  identityAdmin,
  mail,
  me,
  metadata,
  notifications,
  objects,
  relations,
  reports,
  rulePreview,
  rules,
  search,
  sla,
  workflow,
};
export type { catalog, imports, inbound, knowledge, knowledgeAdmin, webhooks };

export type Session = AnswerOf<typeof access.getSession>;
export type DocketRecord = Static<typeof objects.ObjectSchema>;
export type WorkflowState = NonNullable<DocketRecord['workflowState']>;
export type HistoryEvent = AnswerOf<typeof objects.getHistory>[number];
export type RecordComment = AnswerOf<typeof comments.listComments>[number];
export type Attachment = AnswerOf<typeof attachments.listAttachments>[number];
export type Relation = AnswerOf<typeof relations.listRelations>[number];
export type RelationDefinition = AnswerOf<typeof relations.listDefinitions>[number];
export type WorkflowSnapshot = AnswerOf<typeof workflow.getWorkflow>;
export type Transition = WorkflowSnapshot['transitions'][number];
export type BulkResult = AnswerOf<typeof bulk.bulk>[number];
