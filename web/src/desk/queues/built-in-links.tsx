/** The built-in queues in the navigation, with the number of their records. */
import {
  IconCheck,
  IconClockExclamation,
  IconPlayerPause,
  IconUser,
  IconUserOff,
  IconUsers,
} from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import classes from '../../app/navigation.module.css';
import { useText } from '../../i18n/text.ts';
import { builtInQueuesQuery } from '../queries.ts';
import { texts } from './texts.ts';

const ICONS = {
  mine: IconUser,
  unassigned: IconUserOff,
  'my-groups': IconUsers,
  overdue: IconClockExclamation,
  waiting: IconPlayerPause,
  closed: IconCheck,
} as const;

export function BuiltInLinks() {
  const t = useText(texts);
  const { data: queues = [] } = useQuery(builtInQueuesQuery);
  if (queues.length === 0) return null;
  return (
    <section>
      <h2 className={classes.heading}>{t.work}</h2>
      <ul className={classes.list}>
        {queues.map(({ code, count, exact, definition: { filter, ...rest } }) => {
          const Icon: typeof IconUser = ICONS[code];
          const { columns: _columns, ...search } = rest;
          return (
            <li key={code}>
              <Link
                to="/records"
                search={{ ...search, queue: code, ...(filter === undefined ? {} : { filter: JSON.stringify(filter) }) }}
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
