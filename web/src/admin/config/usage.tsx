/** What uses an item of the configuration, and who changed it last. */
import { Anchor, Button, Popover, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ComponentType, useMemo } from 'react';
import { useHas } from '../../app/session.ts';
import { useLanguage } from '../../i18n/language.ts';
import { useText } from '../../i18n/text.ts';
import { subjectTexts } from '../audit/texts.ts';
import type { Column } from '../../ui/data-table.tsx';
import { Time } from '../../ui/time.tsx';
import { itemPage, type PagedSection } from './pages.ts';
import { type ConfigItem, sectionListQuery } from './queries.ts';
import { texts } from './texts.ts';
import { nameIn } from './yaml-text.ts';

type Use = NonNullable<ConfigItem['usedBy']>['items'][number];

/** Sections to whose items nothing refers. */
const NEVER_USED: ReadonlySet<PagedSection> = new Set(['rules', 'macros', 'dashboards']);

/** Columns for a list of items of the section: what uses each, and its last change. None for users without `config.manage`. */
export function useUsageColumns<Row extends { id: string }>(section: PagedSection): Column<Row>[] {
  const t = useText(texts);
  const { data } = useQuery({ ...sectionListQuery(section), enabled: useHas()('config.manage') });
  return useMemo(() => {
    if (data === undefined) return [];
    const items = new Map(data.map((item) => [item.id, item]));
    const cell = (Cell: ComponentType<{ item: ConfigItem }>) => (row: Row) => {
      const item = items.get(row.id);
      return item === undefined ? null : <Cell item={item} />;
    };
    const used: Column<Row> = {
      key: 'usedBy',
      title: t.usedBy,
      value: (row) => items.get(row.id)?.usedBy?.count ?? 0,
      render: cell(UsedBy),
      width: '6.5rem',
      minor: true,
    };
    const changed: Column<Row> = {
      key: 'changed',
      title: t.changed,
      value: (row) => items.get(row.id)?.updatedAt ?? '',
      render: cell(Changed),
      width: '6rem',
      minor: true,
    };
    return NEVER_USED.has(section) ? [changed] : [used, changed];
  }, [data, section, t]);
}

/** When the item was changed last, and by whom. */
export function Changed({ item: { updatedAt, changedBy } }: { item: ConfigItem }) {
  const t = useText(texts);
  if (updatedAt === undefined || updatedAt === null) return null;
  return (
    <>
      <Time at={updatedAt} />
      <Text size="xs" c="dimmed">
        {changedBy?.displayName ?? t.byService}
      </Text>
    </>
  );
}

export function UsedBy({ item }: { item: ConfigItem }) {
  const t = useText(texts);
  const language = useLanguage();
  const { count, items } = item.usedBy ?? { count: 0, items: [] };
  if (count === 0)
    return (
      <Text size="sm" c="dimmed" component="span">
        {t.unused}
      </Text>
    );
  const name = nameIn(item.name, language) || item.code;
  return (
    <span onClick={(event) => event.stopPropagation()} role="presentation">
      <Popover position="bottom-start" withArrow trapFocus returnFocus>
        <Popover.Target>
          <Button size="compact-xs" variant="light" aria-label={t.usedByOf(name, count)}>
            {count}
          </Button>
        </Popover.Target>
        <Popover.Dropdown aria-label={t.usedByOf(name, count)}>
          <Stack gap={4} mah="20rem" style={{ overflowY: 'auto' }}>
            {items.map((use) => (
              <UseLink key={`${use.section} ${use.code}`} use={use} />
            ))}
            {count > items.length && (
              <Text size="xs" c="dimmed">
                {t.moreUses(count - items.length)}
              </Text>
            )}
          </Stack>
        </Popover.Dropdown>
      </Popover>
    </span>
  );
}

function UseLink({ use }: { use: Use }) {
  const language = useLanguage();
  const sections = useText(subjectTexts) as Readonly<Record<string, string>>;
  const href = itemPage(use.section, use);
  const name = nameIn(use.name, language) || use.code;
  return (
    <Text size="sm">
      <Text span c="dimmed">
        {sections[use.section] ?? use.section}:{' '}
      </Text>
      {href === undefined ? name : <Anchor renderRoot={(props) => <Link to={href} {...props} />}>{name}</Anchor>}
    </Text>
  );
}
