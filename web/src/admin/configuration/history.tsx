/** The versions of the configuration: who changed what when, the differences of each, and the way back to one. */
import { Button, Group, Stack, Text } from '@mantine/core';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type AnswerOf, call } from '../../api/client.ts';
import type { configuration } from '../../api/types.ts';
import { useText } from '../../i18n/text.ts';
import { useAction } from '../../ui/action.ts';
import { FaultAlert } from '../../ui/fault.tsx';
import { Panel } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { useItemNames } from '../config/place-names.ts';
import { PlanView } from '../config/plan-view.tsx';
import classes from './configuration.module.css';
import { texts } from './texts.ts';
import { Dialog } from '../../ui/dialog.tsx';

const PAGE_SIZE = 10;
/** Changed items that a row names. */
const MAX_NAMED = 3;

type Version = AnswerOf<typeof configuration.listConfigVersions>['rows'][number];
type Files = AnswerOf<typeof configuration.readConfigVersion>['files'];

const versionsQuery = (page: number) =>
  queryOptions({
    queryKey: ['config', 'versions', page],
    queryFn: ({ signal }) =>
      call<typeof configuration.listConfigVersions>('GET', '/config/versions', {
        query: { page, pageSize: PAGE_SIZE },
        signal,
      }),
  });

const diffQuery = (from: number, to: number) =>
  queryOptions({
    queryKey: ['config', 'diff', from, to],
    queryFn: ({ signal }) =>
      call<typeof configuration.diffConfigVersions>('GET', '/config/diff', { query: { from, to }, signal }),
  });

/** @param onRestore called with the files of the version to go back to */
export function History({ onRestore }: { onRestore: (version: number, files: Files) => void }) {
  const t = useText(texts);
  const [page, setPage] = useState(1);
  const [compared, setCompared] = useState<{ from: number; to: number }>();
  const list = useQuery(versionsQuery(page));
  const restore = useAction({
    run: (version: number) => call<typeof configuration.readConfigVersion>('GET', `/config/versions/${version}`),
    after: ({ version, files }) => onRestore(version, files),
  });
  const rows = list.data?.rows ?? [];
  return (
    <Panel title={t.history}>
      <Stack gap="sm">
        <Text size="sm" c="dimmed">
          {t.historyHint}
        </Text>
        <FaultAlert error={list.error} />
        <ol className={classes.versions}>
          {rows.map((row, index) => {
            const before = rows[index + 1]?.version;
            return (
              <VersionRow
                key={row.version}
                row={row}
                current={row.version === list.data?.current}
                {...(before === undefined ? {} : { onCompare: () => setCompared({ from: before, to: row.version }) })}
                onRestore={() => restore.mutate(row.version)}
              />
            );
          })}
        </ol>
        <Group gap="xs">
          {page > 1 && (
            <Button variant="default" size="xs" onClick={() => setPage(page - 1)}>
              {t.newer}
            </Button>
          )}
          {list.data?.hasMore === true && (
            <Button variant="default" size="xs" onClick={() => setPage(page + 1)}>
              {t.older}
            </Button>
          )}
        </Group>
      </Stack>
      {compared !== undefined && <Compared {...compared} onClose={() => setCompared(undefined)} />}
    </Panel>
  );
}

interface VersionRowProps {
  row: Version;
  current: boolean;
  onCompare?: () => void;
  onRestore: () => void;
}

function VersionRow({ row, current, onCompare, onRestore }: VersionRowProps) {
  const t = useText(texts);
  const words = { create: t.created, change: t.changed, archive: t.archived, restore: t.restored };
  const total = Object.values(row.summary).reduce((sum, count) => sum + count, 0);
  const named = row.items.slice(0, MAX_NAMED);
  const nameOf = useItemNames(named.map(({ section }) => section));
  return (
    <li>
      <Group gap="xs" justify="space-between">
        <Text size="sm" fw={500}>
          {t.version(row.version)}
        </Text>
        <Text size="xs" c="dimmed">
          {row.by?.displayName ?? t.byService}, <Time at={row.at} />
        </Text>
      </Group>
      <Text size="xs">
        {named.map(({ section, code, action }) => {
          const { kind, name } = nameOf(section, code);
          return (
            <span key={`${section} ${code}`} className={classes.versionItem} title={`${section}/${code}`}>
              {kind}: {name} — {words[action]}
            </span>
          );
        })}
        {total > named.length && <span className={classes.versionItem}>{t.more(total - named.length)}</span>}
      </Text>
      <Group gap="xs">
        {onCompare !== undefined && (
          <Button variant="subtle" size="compact-xs" onClick={onCompare}>
            {t.differences}
          </Button>
        )}
        {current ? (
          <Text size="xs" c="dimmed">
            {t.current}
          </Text>
        ) : (
          <Button variant="subtle" size="compact-xs" onClick={onRestore}>
            {t.restore}
          </Button>
        )}
      </Group>
    </li>
  );
}

function Compared({ from, to, onClose }: { from: number; to: number; onClose: () => void }) {
  const t = useText(texts);
  const diff = useQuery(diffQuery(from, to));
  return (
    <Dialog opened centered size="xl" title={t.version(to)} onClose={onClose}>
      <FaultAlert error={diff.error} />
      {diff.data !== undefined && <PlanView items={diff.data} />}
    </Dialog>
  );
}
