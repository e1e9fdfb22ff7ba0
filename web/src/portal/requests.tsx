/** The user's own requests with their states and the last reply. */
import { Loader } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { DocketRecord } from '../api/types.ts';
import { useSession } from '../app/session.ts';
import { lastReplyQuery } from '../desk/queries.ts';
import { StateBadge } from '../desk/record/state-badge.tsx';
import { useText } from '../i18n/text.ts';
import { Empty } from '../ui/empty.tsx';
import { FaultAlert } from '../ui/fault.tsx';
import { Page } from '../ui/page.tsx';
import { Time } from '../ui/time.tsx';
import classes from './portal.module.css';
import { useOwnRequests } from './queries.ts';
import { texts } from './texts.ts';

export function RequestsPage() {
  const t = useText(texts);
  return (
    <Page title={t.requests}>
      <OwnRequests />
    </Page>
  );
}

export function OwnRequests({ limit }: { limit?: number }) {
  const t = useText(texts);
  const { rows, pending, error } = useOwnRequests();
  if (error !== null) return <FaultAlert error={error} />;
  if (rows.length === 0) return pending ? <Loader size="sm" /> : <Empty>{t.noRequests}</Empty>;
  return (
    <ul className={classes.cards}>
      {rows.slice(0, limit).map((row) => (
        <li key={row.id}>
          <Link to="/portal/$" params={{ _splat: `requests/${row.id}` }} className={classes.card}>
            <span className={classes.line}>
              {row.workflowState !== null && <StateBadge state={row.workflowState} />}
              <small className="tabular">{row.number}</small>
              <small>
                <Time at={row.updatedAt} />
              </small>
            </span>
            <strong>{row.title}</strong>
            <LastReply record={row} />
          </Link>
        </li>
      ))}
    </ul>
  );
}

/** The last public comment of another user. */
function LastReply({ record }: { record: DocketRecord }) {
  const t = useText(texts);
  const { user } = useSession();
  const { data: reply = null } = useQuery({ ...lastReplyQuery(record.id, user.id), staleTime: 30_000 });
  if (reply === null) return null;
  return (
    <span className={classes.snippet}>
      <b>{t.reply(reply.author?.displayName ?? '')}</b> {reply.body.replaceAll(/[*_`#>]/g, '')}
    </span>
  );
}
