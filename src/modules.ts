/** The modules of the service, in the order of the documentation of the API. Only this file names them all. */
import { configuration } from './configuration/module.ts';
import { access } from './domain/access/module.ts';
import { attachments } from './domain/attachments/module.ts';
import { bulk } from './domain/bulk/module.ts';
import { catalog } from './domain/catalog/module.ts';
import { comments } from './domain/comments/module.ts';
import { desk } from './domain/desk/module.ts';
import { recordExports } from './domain/exports/module.ts';
import { feed } from './domain/feed/module.ts';
import { identity } from './domain/identity/module.ts';
import { imports } from './domain/imports/module.ts';
import { inbound } from './domain/inbound/module.ts';
import { knowledge } from './domain/knowledge/module.ts';
import { mail } from './domain/mail/module.ts';
import { metadata } from './domain/metadata/module.ts';
import { notifications } from './domain/notifications/module.ts';
import { objects } from './domain/objects/module.ts';
import { relations } from './domain/relations/module.ts';
import { reports } from './domain/reports/module.ts';
import { rules } from './domain/rules/module.ts';
import { search } from './domain/search/module.ts';
import { sla } from './domain/sla/module.ts';
import { webhooks } from './domain/webhooks/module.ts';
import { workflow } from './domain/workflow/module.ts';
import { http } from './http/module.ts';
import { journal } from './platform/journal/module.ts';
import { blobStore } from './platform/blobs/module.ts';
import { database } from './platform/database/module.ts';
import type { Module } from './platform/module.ts';
import { observability } from './platform/observability/module.ts';
import { unitOfWork } from './platform/unit-of-work/module.ts';

export const MODULES: readonly Module[] = [
  database,
  unitOfWork,
  observability,
  journal,
  blobStore,
  http,
  metadata,
  objects,
  comments,
  attachments,
  relations,
  workflow,
  search,
  bulk,
  sla,
  imports,
  recordExports,
  catalog,
  knowledge,
  webhooks,
  feed,
  identity,
  inbound,
  mail,
  access,
  desk,
  reports,
  rules,
  notifications,
  configuration,
];
