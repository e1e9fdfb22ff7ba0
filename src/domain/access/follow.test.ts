import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EventType } from '../../contract/events.ts';
import type { PlannedEvent, WriteContext } from '../../platform/unit-of-work/context.ts';
import { administratorFollower } from './follow.ts';

/** Whether a unit with these events, which changes the rights version, is checked for the last administrator. */
async function isChecked(...types: EventType[]): Promise<boolean> {
  let checked = false;
  const ctx = { invalidated: new Set(['rights']), verify: () => (checked = true) } as unknown as WriteContext;
  await administratorFollower(false).follow(
    ctx,
    types.map((type) => ({ type }) as PlannedEvent),
  );
  return checked;
}

test('only a unit all of whose changes leave everybody their roles is not checked for the last administrator', async () => {
  for (const type of ['GroupMemberAdded', 'OrgMemberSet', 'OrgMemberRemoved'] as const)
    assert.equal(await isChecked(type), false, type);
  for (const type of ['GroupMemberRemoved', 'GroupArchived', 'UserArchived', 'ConfigChanged'] as const)
    assert.equal(await isChecked('GroupMemberAdded', type), true, type);
});
