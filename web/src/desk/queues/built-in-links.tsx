/** The built-in queues in the navigation, with the number of their records. */
import {
  IconCheck,
  IconClockExclamation,
  IconPlayerPause,
  IconUser,
  IconUserOff,
  IconUsers,
} from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { follow } from '../../api/live.ts';
import classes from '../../app/navigation.module.css';
import { useText } from '../../i18n/text.ts';
import { type BuiltInQueues, builtInQueuesQuery } from '../queries.ts';
import { texts } from './texts.ts';

const ICONS = {
  mine: IconUser,
  unassigned: IconUserOff,
  'my-groups': IconUsers,
  overdue: IconClockExclamation,
  waiting: IconPlayerPause,
  closed: IconCheck,
} as const;

/** How often counts are read while there is no stream. */
const POLL_MS = 10_000;

/** The built-in queues. The service sends new counts; without a stream they are read at intervals. */
function useBuiltInQueues() {
  const client = useQueryClient();
  const [isLive, setIsLive] = useState(false);
  useEffect(
    () =>
      follow('/desk/queues/stream', 'queues', {
        onData: (data) => client.setQueryData(builtInQueuesQuery.queryKey, data as BuiltInQueues),
        onLive: setIsLive,
      }),
    [client],
  );
  return useQuery({ ...builtInQueuesQuery, refetchInterval: isLive ? false : POLL_MS });
}

/** The address of the list of a built-in queue. */
export function listSearchOf({ code, definition: { filter, columns: _columns, ...rest } }: BuiltInQueues[number]) {
  return { ...rest, queue: code, ...(filter === undefined ? {} : { filter: JSON.stringify(filter) }) };
}

export function BuiltInLinks() {
  const t = useText(texts);
  const { data: queues = [] } = useBuiltInQueues();
  if (queues.length === 0) return null;
  return (
    <section>
      <h2 className={classes.heading}>{t.work}</h2>
      <ul className={classes.list}>
        {queues.map((queue) => {
          const { code, count, exact } = queue;
          const Icon: typeof IconUser = ICONS[code];
          return (
            <li key={code}>
              <Link
                to="/records"
                search={listSearchOf(queue)}
                activeOptions={{ includeSearch: true }}
                className={classes.link}
              >
                <Icon size={16} stroke={1.6} />
                <span className={classes.name}>{t[code]}</span>
                {count !== null && (
                  <span className={`${classes.count} tabular`}>
                    {count}
                    {exact ? '' : '+'}
                  </span>
                )}
              </Link>
            </li>
          );
        })}
      </ul>
    </section>
  );
}
