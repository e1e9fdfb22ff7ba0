/**
 * The audit log: changes of configuration, keys, rights and identity, and sign-ins
 * (docs/spec/configuration.md#administration-api).
 */
import Type, { type Static } from 'typebox';
import { defineOperation } from '../../contract/operation.ts';
import { pageOf, pagingQuery, windowOf } from '../../contract/paging.ts';
import { closed, Id, Instant, nullable } from '../../contract/schemas.ts';
import { type BoundOperation, bind } from '../../platform/unit-of-work/binding.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { auditRows } from '../../platform/audit/journal.ts';

const AuditEntry = Type.Object(
  {
    id: Id,
    at: Instant,
    type: Type.String(),
    subject: nullable(Type.String()),
    actor: Type.Object({ id: nullable(Id), displayName: Type.String(), via: Type.String() }),
    keyId: nullable(Id),
    correlationId: nullable(Type.String()),
    data: Type.Record(Type.String(), Type.Unknown()),
  },
  { $id: 'AuditEntry' },
);

export const readAudit = defineOperation({
  id: 'audit.list',
  method: 'GET',
  path: '/audit',
  access: 'console',
  right: 'audit.read',
  unit: 'read',
  status: 200,
  tag: 'Audit',
  summary: 'Read the audit log, newest first',
  description:
    'Changes of configuration, keys, rights and identity, and sign-ins. Filter by type of event and by subject.',
  query: closed({
    type: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
    subject: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
    ...pagingQuery,
  }),
  answer: Type.Object({
    rows: Type.Array(AuditEntry),
    page: Type.Integer(),
    pageSize: Type.Integer(),
    hasMore: Type.Boolean(),
  }),
  faults: ['RIGHT_MISSING'],
});

/** @throws Fault RIGHT_MISSING */
async function listAudit(ctx: ReadContext, query: Static<(typeof readAudit)['query']>): Promise<unknown> {
  ctx.actor.require('audit.read');
  const window = windowOf(query);
  const rows = await auditRows(ctx, { ...query, limit: window.limit, offset: window.offset });
  const shown = rows.map(({ actorId, actorName, via, ...row }) => ({
    ...row,
    actor: { id: actorId, displayName: actorName ?? 'system', via },
    data: row.data ?? {},
  }));
  return pageOf(shown, window);
}

export const auditRoutes: BoundOperation[] = [bind(readAudit, (ctx, { query }) => listAudit(ctx, query))];
