/**
 * Error codes, rights and events are closed unions: a misspelt name does not compile. `npm run check:types` fails when one of
 * the lines marked below compiles.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import Type from 'typebox';
import { FAULT_GUIDES } from '../src/contract/fault-guides.ts';
import { defineOperation } from '../src/contract/operation.ts';
import { FAULTS } from '../src/lib/fault-codes.ts';
import { Fault } from '../src/lib/fault.ts';
import {
  applyChange,
  type Authorized,
  type GuardedWrite,
  type ObjectPlan,
  planOn,
  type VisibleObject,
} from '../src/domain/objects/index.ts';
import type { Actor, WriteContext } from '../src/platform/unit-of-work/context.ts';

const read = {
  id: 'things.list',
  method: 'GET',
  path: '/things',
  access: 'objects:read',
  unit: 'read',
  status: 200,
  tag: 'Things',
  summary: 'All things',
  description: 'What it does.',
  answer: Type.Unknown(),
  faults: [],
} as const;
defineOperation({ ...read, growth: 'few' });

/** Never called; each must be refused by the compiler. */
const misspelt = {
  // @ts-expect-error a right that does not exist
  right: (actor: Actor) => actor.require('sla.contorl'),
  // @ts-expect-error an error code that does not exist
  code: () => new Fault('REVISION_CONFLCIT', 'Read the record again.'),
  // @ts-expect-error a code with several causes, without a cause that has a text in each language
  cause: () => new Fault('STATE_CONFLICT', 'Read the record again.'),
  // @ts-expect-error an event that does not exist
  event: (ctx: WriteContext) => ctx.emit({ type: 'CommentAdedd' }),
  // @ts-expect-error an event without the data that its declaration names
  data: (ctx: WriteContext) => ctx.emit({ type: 'CommentAdded', objectId: 'x', data: { visibility: 'public' } }),
  // @ts-expect-error a record on which no right was checked
  unchecked: (ctx: WriteContext, object: VisibleObject, plan: ObjectPlan) => applyChange(ctx, object, plan),
  transition: (
    ctx: WriteContext,
    object: Authorized<'update'>,
    plan: ObjectPlan & { event: { type: 'ObjectTransitioned' } },
  ) =>
    // @ts-expect-error a transition of a record on which another right was checked
    applyChange(ctx, object, plan),
  // @ts-expect-error a write that needs a right, without the record on which it was checked
  write: (ctx: WriteContext, write: GuardedWrite<object, 'comment.create'>) => ctx.plan(write, {}),
  otherRight: (ctx: WriteContext, object: Authorized<'update'>, write: GuardedWrite<object, 'comment.create'>) =>
    // @ts-expect-error a write that needs another right
    planOn(ctx, object, write, {}),
  // @ts-expect-error a read that does not say how its answer grows
  growth: () => defineOperation(read),
};

describe('closed unions', () => {
  it('reject arbitrary strings', () => {
    assert.deepEqual(Object.keys(misspelt), [
      'right',
      'code',
      'cause',
      'event',
      'data',
      'unchecked',
      'transition',
      'write',
      'otherRight',
      'growth',
    ]);
  });

  it('have a guide for each error code', () => {
    assert.deepEqual(Object.keys(FAULT_GUIDES).sort(), Object.keys(FAULTS).sort());
  });
});
