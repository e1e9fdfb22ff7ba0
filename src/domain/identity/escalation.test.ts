import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Fault } from '../../lib/fault.ts';
import type { WriteContext } from '../../platform/unit-of-work/context.ts';
import { refuseAfterRights } from './escalation.ts';

interface Tried {
  ctx: WriteContext;
  statements: number;
  isAuthorized: boolean;
}

/** A unit of a caller, which counts its statements. */
function unit(userId: string, mayAssign: boolean): Tried {
  const tried: Tried = { ctx: undefined as unknown as WriteContext, statements: 0, isAuthorized: false };
  tried.ctx = {
    actor: { userId, has: () => mayAssign },
    markAuthorized: () => {
      tried.isAuthorized = true;
    },
    query: async () => {
      tried.statements++;
      return [];
    },
  } as unknown as WriteContext;
  return tried;
}

const granted = { members: [{ groupId: 'g', memberId: 'u', memberType: 'user' as const }] };
const archived = (): void => {
  throw new Fault('ARCHIVED', 'The group is archived.');
};

test('rights are left to the check of the written rows if no error of state comes before it', async () => {
  const one = unit('caller', false);
  await refuseAfterRights(one.ctx, granted, () => {});
  assert.deepEqual([one.statements, one.isAuthorized], [0, true]);
});

test('an error of state is shown to callers who may grant the access', async () => {
  const one = unit('caller', true);
  await assert.rejects(refuseAfterRights(one.ctx, granted, archived), { code: 'ARCHIVED' });
});

test('an error of state comes after that of rights', async () => {
  const one = unit('u', false);
  await assert.rejects(refuseAfterRights(one.ctx, granted, archived), { code: 'ROLE_ESCALATION' });
  assert.equal(one.isAuthorized, false);
});
