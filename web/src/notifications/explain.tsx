/** Explains for a record and a user which notifications the user got, and why not of other events. */
import { Loader, Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { type AnswerOf, call } from '../api/client.ts';
import type { notifications } from '../api/types.ts';
import { useHas, useSession } from '../app/session.ts';
import { recordQuery } from '../desk/queries.ts';
import { PersonPicker } from '../fields/pickers.tsx';
import { eventName, eventTexts } from '../i18n/event-texts.ts';
import { useFormats } from '../i18n/format.ts';
import { useText } from '../i18n/text.ts';
import { Empty } from '../ui/empty.tsx';
import { FaultAlert } from '../ui/fault.tsx';
import { Page, Panel } from '../ui/page.tsx';
import { Time } from '../ui/time.tsx';
import { explainTexts } from './explain-texts.ts';

type Answer = AnswerOf<typeof notifications.explainNotifications>;

export function ExplainNotificationsPage() {
  const t = useText(explainTexts);
  const { recordId } = useParams({ from: '/inside/records/$recordId/notifications' });
  const { user } = useSearch({ from: '/inside/records/$recordId/notifications' });
  const has = useHas();
  const me = useSession().user;
  const navigate = useNavigate();
  const record = useQuery(recordQuery(recordId));
  const explained = useQuery({
    queryKey: ['notifications', 'explained', recordId, user],
    queryFn: ({ signal }) =>
      call<typeof notifications.explainNotifications>('POST', '/notifications/explain', {
        body: { objectId: recordId, ...(user === undefined ? {} : { user }) },
        signal,
      }),
    staleTime: 0,
  });
  const choose = (id: string | null): void =>
    void navigate({
      to: '/records/$recordId/notifications',
      params: { recordId },
      search: id === null || id === me.id ? {} : { user: id },
    });
  return (
    <Page
      title={t.title}
      hint={
        <>
          <Text size="sm" c="bright" lineClamp={2}>
            {[record.data?.number, record.data?.title].filter(Boolean).join(' · ')}
          </Text>
          {t.hint}
        </>
      }
      back={{ label: record.data?.number ?? t.record, href: `/records/${recordId}` }}
      narrow
    >
      {has('role.assign') && (
        <Panel>
          <PersonPicker label={t.person} value={user ?? me.id} onChange={choose} />
        </Panel>
      )}
      <FaultAlert error={explained.error} retry={() => void explained.refetch()} />
      {explained.isPending && <Loader size="sm" />}
      {explained.data !== undefined && <Explained answer={explained.data} />}
    </Page>
  );
}

function Explained({ answer }: { answer: Answer }) {
  const t = useText(explainTexts);
  const { user, watching, hasMailAddress, quietHours, timezone, events } = answer;
  const { from, to } = quietHours;
  const quiet = from === null || to === null ? t.noQuiet : t.quiet(from, to, timezone);
  return (
    <Panel title={user.displayName}>
      <Text size="sm" c="dimmed" mb="sm">
        {t.about(watching ? t.watches : t.watchesNot, hasMailAddress ? t.hasMail : t.hasNoMail, quiet)}
      </Text>
      {events.length === 0 ? (
        <Empty>{t.none}</Empty>
      ) : (
        <Table aria-label={t.title} horizontalSpacing="xs" layout="fixed">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t.event}</Table.Th>
              <Table.Th>{t.result}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {events.map((event) => (
              <Row key={event.id} event={event} />
            ))}
          </Table.Tbody>
        </Table>
      )}
    </Panel>
  );
}

function Row({ event }: { event: Answer['events'][number] }) {
  const t = useText(explainTexts);
  const names = useText(eventTexts);
  const format = useFormats();
  const { kind, reason, inConsole, readAt, mail } = event;
  const details = [
    ...(kind === null ? [] : [inConsole ? (readAt === null ? t.unread : t.read) : t.notInConsole]),
    ...(mail === null ? [] : [t.mailAt(format.instant(mail.dueAt))]),
  ];
  return (
    <Table.Tr style={{ verticalAlign: 'top' }}>
      <Table.Td>
        {eventName(names, event.type)}
        <Text size="xs" c="dimmed">
          {event.actor.displayName} · <Time at={event.at} />
        </Text>
      </Table.Td>
      <Table.Td>
        <Text size="sm" fw={kind === null ? 400 : 600}>
          {kind === null ? t.notTold : t.told}
        </Text>
        {kind === null ? t[reason ?? 'UNKNOWN'] : t[kind]}
        {details.length > 0 && (
          <Text size="xs" c="dimmed">
            {details.join(', ')}
          </Text>
        )}
      </Table.Td>
    </Table.Tr>
  );
}
