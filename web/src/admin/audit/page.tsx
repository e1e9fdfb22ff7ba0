/** The audit log, newest first, with paging. */
import { Button, Code, Group, Select, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useCallback, useMemo, useState } from 'react';
import { type AnswerOf, call } from '../../api/client.ts';
import type { access } from '../../api/types.ts';
import { labelText, useLabels } from '../../fields/labels.ts';
import { useText } from '../../i18n/text.ts';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { FaultAlert } from '../../ui/fault.tsx';
import { Page } from '../../ui/page.tsx';
import { PersonName } from '../../ui/person.tsx';
import { Time } from '../../ui/time.tsx';
import classes from './audit.module.css';
import { useItemNames } from '../config/place-names.ts';
import { propertyTexts } from '../config/property-texts.ts';
import { eventTexts } from '../../i18n/event-texts.ts';
import { AUDIT_EVENTS } from '../../../../src/contract/events.ts';
import { detailTexts, subjectTexts, texts, viaTexts } from './texts.ts';

type Entry = AnswerOf<typeof access.readAudit>['rows'][number];

const NONE: readonly (string | null)[] = [];

export default function AuditPage() {
  const t = useText(texts);
  const [kind, setKind] = useState<string | null>(null);
  const [about, setAbout] = useState('');
  const log = useAuditLog(about, kind);
  const names = useText(eventTexts);
  const kinds = useMemo(() => AUDIT_EVENTS.map((value) => ({ value: value as string, label: names[value] })), [names]);
  const rows = log.data?.pages.flatMap((page) => page.rows);
  const columns = useAuditColumns(rows);
  return (
    <Page title={t.title} hint={t.hint}>
      <FaultAlert error={log.error} retry={() => void log.refetch()} />
      <DataTable
        label={t.title}
        columns={columns}
        rows={rows}
        rowKey={(row) => row.id}
        tools={
          <>
            <Select
              aria-label={t.kind}
              placeholder={t.kind}
              value={kind}
              onChange={setKind}
              data={kinds}
              searchable
              clearable
              clearButtonProps={{ 'aria-label': t.anyKind }}
            />
            <TextInput
              aria-label={t.about}
              placeholder={t.about}
              value={about}
              onChange={(event) => setAbout(event.currentTarget.value)}
            />
          </>
        }
      />
      {log.hasNextPage && (
        <Group justify="center" mt="sm">
          <Button variant="default" loading={log.isFetchingNextPage} onClick={() => void log.fetchNextPage()}>
            {t.more}
          </Button>
        </Group>
      )}
    </Page>
  );
}

/** The columns of the log. */
function useAuditColumns(rows: readonly Entry[] | undefined) {
  const t = useText(texts);
  const { kindOf, viaOf } = useAuditWords();
  const subjectOf = useSubjects(rows?.map((row) => row.subject) ?? NONE);
  return useMemo(
    (): Column<Entry>[] => [
      {
        key: 'at',
        title: t.at,
        value: (row) => row.at,
        render: (row) => <Time at={row.at} absolute />,
        width: '11rem',
      },
      {
        key: 'who',
        title: t.who,
        value: (row) => (row.actor.id === null ? t.system : row.actor.displayName),
        render: (row) => (row.actor.id === null ? t.system : <PersonName name={row.actor.displayName} />),
      },
      { key: 'what', title: t.what, value: (row) => kindOf(row.type) },
      {
        key: 'subject',
        title: t.subject,
        value: (row) => subjectOf(row.subject, row.data),
        render: (row) => <span title={row.subject ?? ''}>{subjectOf(row.subject, row.data)}</span>,
      },
      { key: 'via', title: t.via, value: (row) => viaOf(row.actor.via), minor: true },
      {
        key: 'details',
        title: t.details,
        width: '30%',
        value: (row) => (Object.keys(row.data).length === 0 ? '' : JSON.stringify(row.data)),
        render: (row) => (Object.keys(row.data).length === 0 ? '' : <Details data={row.data} />),
        minor: true,
      },
    ],
    [t, kindOf, subjectOf, viaOf],
  );
}

/** The log entries of a kind and a subject, page by page. */
function useAuditLog(about: string, kind: string | null) {
  const [subject] = useDebouncedValue(about.trim(), 300);
  return useInfiniteQuery({
    queryKey: ['audit', kind, subject],
    queryFn: ({ pageParam, signal }) =>
      call<typeof access.readAudit>('GET', '/audit', {
        query: {
          page: pageParam,
          pageSize: 100,
          type: kind ?? undefined,
          subject: subject === '' ? undefined : subject,
        },
        signal,
      }),
    initialPageParam: 1,
    getNextPageParam: (last) => (last.hasMore ? last.page + 1 : undefined),
  });
}

function said(words: Readonly<Record<string, unknown>>, code: string): string {
  const word = Object.hasOwn(words, code) ? words[code] : undefined;
  return typeof word === 'string' ? word : code;
}

export function useAuditWords(): { kindOf: (type: string) => string; viaOf: (via: string) => string } {
  const kinds = useText(eventTexts);
  const vias = useText(viaTexts);
  return useMemo(
    () => ({ kindOf: (type: string) => said(kinds, type), viaOf: (via: string) => said(vias, via) }),
    [kinds, vias],
  );
}

const ID = /^(user|group|orgUnit):([0-9a-f-]{36})$/;

const UUID = /^[0-9a-f]{8}-[0-9a-f-]{27}$/;

type Data = Readonly<Record<string, unknown>>;

/** Keys and articles have no code; their name is in the entry's data. */
function ownName({ name, title, code }: Data): string | undefined {
  return [name, title, code].find((one): one is string => typeof one === 'string');
}

/**
 * Returns a function that names the subject of an entry: users, groups, units and items of the configuration by name, keys and
 * articles by the entry's data.
 */
export function useSubjects(subjects: readonly (string | null)[]): (subject: string | null, data: Data) => string {
  const words = useText(subjectTexts);
  const nameOf = useItemNames(subjects.map((subject) => (subject ?? '').split(':')[0] ?? ''));
  const labels = useLabels(subjects.flatMap((subject) => ID.exec(subject ?? '')?.[2] ?? []));
  return useCallback(
    (subject, data) => {
      if (subject === null) return '';
      const cut = subject.indexOf(':');
      const kind = said(words, subject.slice(0, cut));
      const rest = subject.slice(cut + 1);
      const name = labelText(labels.get(rest)) ?? (UUID.test(rest) ? ownName(data) : undefined);
      return `${kind}: ${name ?? (UUID.test(rest) ? `${rest.slice(0, 8)}…` : nameOf(subject.slice(0, cut), rest).name)}`;
    },
    [words, labels, nameOf],
  );
}

/** The keys that differ between before and after. */
function changedKeys(before: unknown, after: unknown): string[] {
  const sides = [before, after].map((side) => (typeof side === 'object' && side !== null ? (side as Data) : {}));
  const keys = new Set(sides.flatMap((side) => Object.keys(side)));
  return [...keys].filter((key) => JSON.stringify(sides[0]?.[key]) !== JSON.stringify(sides[1]?.[key]));
}

function short(value: unknown): string {
  if (Array.isArray(value)) return value.map(short).join(', ');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** Formats the data of an entry in one line. */
function useDetailsLine(): (data: Data) => string {
  const words = useText(detailTexts);
  const properties = useText(propertyTexts);
  return ({ before, after, ...rest }) => {
    const parts = Object.entries(rest)
      .filter(([, value]) => value !== null && !(Array.isArray(value) && value.length === 0))
      .filter(([, value]) => !(typeof value === 'string' && UUID.test(value)))
      .map(([key, value]) => `${said(words, key)}: ${said(words, short(value))}`);
    const isList = Array.isArray(before) || Array.isArray(after);
    const keys = isList || before === undefined || before === null ? [] : changedKeys(before, after);
    if (keys.length > 0) parts.push(`${words.changed}: ${keys.map((key) => said(properties, key)).join(', ')}`);
    return parts.join(' · ');
  };
}

/** The data of an entry in one line; all of it when opened. */
export function Details({ data }: { data: Data }) {
  const words = useText(detailTexts);
  const line = useDetailsLine()(data);
  const simple = data['before'] === undefined && data['after'] === undefined && line.length <= 90;
  if (simple) return <Text size="xs">{line}</Text>;
  return (
    <details className={classes.details}>
      <summary>{line === '' ? words.whole : line.length > 90 ? `${line.slice(0, 88)}…` : line}</summary>
      {/* Focusable, so that it can be scrolled by keyboard. */}
      <Code block tabIndex={0}>
        {JSON.stringify(data, null, 2)}
      </Code>
    </details>
  );
}
