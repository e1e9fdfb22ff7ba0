/** The impact of a plan on saved queues: those whose type or fields are no longer there. */
import type { Impact, ImpactSource } from '../../configuration/impact.ts';
import { isReadable } from './queues.ts';
import { allQueues } from './store.ts';

export const queuesImpact: ImpactSource =
  async () =>
  async ({ before, after, caller }) => {
    const broken: Impact['broken'] = [];
    for (const { id, name, shared, ownerId, definition } of await allQueues(after)) {
      if (!isReadable(before, definition) || isReadable(after, definition)) continue;
      // Names of private queues are for their owners.
      const code = shared || ownerId === caller.userId ? name : id;
      broken.push({ section: 'queues', code, reason: 'TYPE_OR_FIELD_MISSING' });
    }
    return { broken };
  };
