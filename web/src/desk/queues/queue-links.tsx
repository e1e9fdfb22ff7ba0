/** Saved queues in the navigation: private ones first, then those of groups, then shared ones. */
import { IconLayoutList, IconUsersGroup } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import classes from '../../app/navigation.module.css';
import { texts as appTexts } from '../../app/texts.ts';
import { useText } from '../../i18n/text.ts';
import type { Queue } from '../queries.ts';

export function QueueLinks({ queues }: { queues: readonly Queue[] }) {
  const t = useText(appTexts);
  if (queues.length === 0) return null;
  const rank = ({ shared, group }: Queue): number => (shared ? 2 : group === null ? 0 : 1);
  const sorted = queues.toSorted((a, b) => rank(a) - rank(b));
  return (
    <section>
      <h2 className={classes.heading}>{t.queues}</h2>
      <ul className={classes.list}>
        {sorted.map((queue) => (
          <li key={queue.id}>
            <Link to="/queues/$queueId" params={{ queueId: queue.id }} className={classes.link}>
              {queue.shared || queue.group !== null ? (
                <IconUsersGroup size={16} stroke={1.6} />
              ) : (
                <IconLayoutList size={16} stroke={1.6} />
              )}
              <span
                className={classes.name}
                title={queue.group === null ? queue.name : `${queue.name} · ${queue.group.name}`}
              >
                {queue.name}
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}
