/** Deliveries are made of the events of the journal, sent, and removed by age. Each stage wakes the next; its timer covers what was missed. */
import { instant } from '../../platform/clock.ts';
import type { Service } from '../../platform/module.ts';
import { IDLE_MS } from '../../platform/moments.ts';
import type { Task } from '../../platform/tasks.ts';
import { readComment } from '../comments/index.ts';
import { articleEvent } from '../knowledge/index.ts';
import { historyFilters } from '../objects/index.ts';
import { Deliverer, deliveryLimits } from './deliver.ts';
import { dispatchEvents } from './dispatch.ts';
import { purgeDeliveries } from './store-delivery.ts';

/** Retention of finished deliveries in milliseconds. The last 100 of a subscription are always kept. */
const KEPT_MS = 14 * 86_400_000;

export function deliveryTasks(service: Service): Task[] {
  const { db, clock, work, outbound, secrets, get, modules, outages } = service;
  const { limits = {}, everyMs = 500 } = get(deliveryLimits);
  const wake = (): void => service.wake('deliveries');
  const deliverer = new Deliverer({
    db,
    work,
    clock,
    outbound,
    secrets,
    callerOf: async (userId) => {
      const actor = await service.actorOf(userId);
      return actor === undefined ? undefined : { ...(await service.system()), actor };
    },
    parts: { filters: historyFilters.of(modules), comment: readComment, article: articleEvent },
    onError: (error) => void outages.failed('deliveries', error),
    onRoom: wake,
    limits,
  });
  return [
    {
      name: 'dispatch',
      everyMs,
      idleMs: IDLE_MS,
      gapMs: 10,
      run: async () => {
        const { made, more } = await dispatchEvents(db, clock);
        if (made > 0) wake();
        return more;
      },
    },
    {
      name: 'deliveries',
      everyMs,
      idleMs: IDLE_MS,
      gapMs: 5,
      run: () => deliverer.turn(),
      stop: () => deliverer.stop(),
    },
    {
      name: 'delivery-log',
      everyMs: 600_000,
      run: async () => (await purgeDeliveries(db, instant(clock.now() - KEPT_MS), 5000)) === 5000,
    },
  ];
}
