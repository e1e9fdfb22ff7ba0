/** Payloads of article events: the knowledge module decides on their content and on whether they are sent. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { systemActor } from '../access/index.ts';
import { newId } from '../../platform/clock.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { ConfigSnapshot } from '../../platform/unit-of-work/snapshot.ts';
import type { CompiledWebhook } from './rules.ts';
import { type EventParts, Payloads } from './payload.ts';
import type { LeasedDelivery } from './store-delivery.ts';

const ctx: ReadContext = {
  actor: systemActor(null),
  now: '2026-11-21T09:00:00.000Z',
  via: 'system',
  keyId: null,
  correlationId: 'test',
  config: new ConfigSnapshot(1, { items: [], typeVersions: [] }),
  query: async () => [],
  find: async () => undefined,
  newId,
  memo: new Map(),
};

const delivery: LeasedDelivery = {
  id: newId(),
  lease: newId(),
  subscriptionId: newId(),
  eventId: newId(),
  eventType: 'ArticlePublished',
  objectId: null,
  eventAt: ctx.now,
  eventSeq: 1,
  eventData: { articleId: 'a', versionId: 'v', code: 'how-to', locale: 'en-US', title: 'How to' },
  attemptCount: 0,
  maxAttempts: 3,
  baseDelayMs: 1000,
};

const webhook = (filters: CompiledWebhook['filters'] = { types: [] }): CompiledWebhook => ({
  code: 'h',
  endpoint: 'https://hooks.example.org/',
  secretRef: 'main',
  executionPrincipal: 'anna',
  executionPrincipalId: newId(),
  eventTypes: ['ArticlePublished'],
  filters,
  retryPolicy: { maxAttempts: 3, baseDelayMs: 1000 },
  enabled: true,
});

const of = (parts: Partial<EventParts>, filters?: CompiledWebhook['filters']) =>
  new Payloads({ filters: [], comment: async () => undefined, ...parts }).of(ctx, delivery, {
    id: newId(),
    version: 1,
    webhook: webhook(filters),
  });

describe('events of articles', () => {
  it('have the payload that the knowledge module defines', async () => {
    const sent = await of({ article: async (_ctx, { articleId, title }) => ({ articleId, title }) });
    assert.deepEqual(sent, { kind: 'send', data: { articleId: 'a', title: 'How to' } });
  });

  it('are skipped if the executor may not read the article', async () => {
    assert.equal((await of({ article: async () => undefined })).kind, 'skip');
    assert.equal((await of({})).kind, 'skip');
  });

  it('match no condition on records', async () => {
    const article = async () => ({});
    const condition = { field: 'title', operator: 'is-empty', value: false } as const;
    assert.equal((await of({ article }, { types: [], condition })).kind, 'skip');
  });

  it('are skipped like those of records if the record does not exist', async () => {
    const payloads = new Payloads({ filters: [], comment: async () => undefined });
    const sender = { id: newId(), version: 1, webhook: webhook() };
    assert.equal((await payloads.of(ctx, { ...delivery, objectId: newId() }, sender)).kind, 'skip');
  });
});
