/** The open sessions of the user, with buttons to end one or all others. */
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type AnswerOf, call } from '../api/client.ts';
import type { me } from '../api/types.ts';
import { useLanguage } from '../i18n/language.ts';
import { useText } from '../i18n/text.ts';
import { useAction } from '../ui/action.ts';
import { confirm } from '../ui/confirm.tsx';
import { type Column, DataTable } from '../ui/data-table.tsx';
import { FaultAlert } from '../ui/fault.tsx';
import { Panel } from '../ui/page.tsx';
import { Time } from '../ui/time.tsx';
import { deviceName } from './device.ts';
import { texts } from './texts.ts';

type Session = AnswerOf<typeof me.listSessions>[number];

const SESSIONS = ['own-sessions'] as const;

export function SessionList() {
  const t = useText(texts);
  const language = useLanguage();
  const sessions = useQuery({
    queryKey: SESSIONS,
    queryFn: ({ signal }) => call<typeof me.listSessions>('GET', '/me/sessions', { signal }),
  });
  const end = useAction({
    run: ({ id }: Session) => call<typeof me.endSession>('DELETE', `/me/sessions/${id}`),
    touches: [SESSIONS],
    done: t.ended,
  });
  const columns = useSessionColumns();
  return (
    <Panel title={t.sessions} actions={sessions.data?.some(({ current }) => !current) === true && <EndOthers />}>
      <FaultAlert error={sessions.error} retry={() => void sessions.refetch()} />
      <DataTable
        label={t.sessions}
        short
        columns={columns}
        rows={sessions.data}
        rowKey={(row) => row.id}
        rowActions={(row) =>
          !row.current && (
            <Button
              size="compact-xs"
              variant="default"
              aria-label={t.endThis(deviceName(row.userAgent)[language])}
              loading={end.isPending && end.variables.id === row.id}
              onClick={() => end.mutate(row)}
            >
              {t.end}
            </Button>
          )
        }
      />
    </Panel>
  );
}

function EndOthers() {
  const t = useText(texts);
  const end = useAction({
    run: () => call<typeof me.endOtherSessions>('DELETE', '/me/sessions'),
    touches: [SESSIONS],
    done: t.othersEnded,
  });
  const ask = async (): Promise<void> => {
    const question = { title: t.endOthersTitle, body: t.endOthersBody, yes: t.endOthers, danger: true };
    if (await confirm(question)) end.mutate();
  };
  return (
    <Button size="xs" variant="default" loading={end.isPending} onClick={() => void ask()}>
      {t.endOthers}
    </Button>
  );
}

function useSessionColumns(): Column<Session>[] {
  const t = useText(texts);
  const language = useLanguage();
  const device = (row: Session): string => deviceName(row.userAgent)[language];
  return [
    {
      key: 'device',
      title: t.device,
      value: device,
      render: (row) => <span title={row.userAgent ?? ''}>{device(row)}</span>,
    },
    { key: 'address', title: t.address, value: (row) => row.address ?? '' },
    {
      key: 'seen',
      title: t.lastSeen,
      value: (row) => row.lastSeenAt ?? '',
      render: (row) => (row.current ? t.current : <Time at={row.lastSeenAt ?? row.createdAt} />),
    },
    {
      key: 'started',
      title: t.started,
      value: (row) => row.createdAt,
      render: (row) => <Time at={row.createdAt} absolute />,
      minor: true,
    },
  ];
}
