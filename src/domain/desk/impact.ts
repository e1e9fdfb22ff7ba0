/** The impact of a plan on saved queues: those whose type or fields are no longer there. */
import type { Impact, ImpactSource } from '../../configuration/impact.ts';
import { isReadable } from './queues.ts';
import { allQueues, withCurrentNames } from './store.ts';

export const queuesImpact: ImpactSource =
  async () =>
  async ({ before, after, caller }) => {
    const broken: Impact['broken'] = [];
    for (const queue of await allQueues(after)) {
      const [old, now] = [withCurrentNames(before, queue), withCurrentNames(after, queue)];
      if (!isReadable(before, old.definition) || isReadable(after, now.definition)) continue;
      const { id, name, shared, ownerId } = queue;
      // Names of private queues are for their owners.
      const code = shared || ownerId === caller.userId ? name : id;
      broken.push({ section: 'queues', code, reason: 'TYPE_OR_FIELD_MISSING' });
    }
    return { broken };
  };
