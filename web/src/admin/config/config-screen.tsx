/**
 * A complete screen of one section: the list with its archive at `/admin/<screen>`, a new item at `…/new`, an item at
 * `…/<code>`. Screens with special needs use its parts (`SectionTable`, `ItemEditor`, `ArchiveButton`).
 */
import { Button, Switch, Text } from '@mantine/core';
import { IconArchive, IconPlus } from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ComponentType, type ReactNode, useMemo, useState } from 'react';
import { useLanguage } from '../../i18n/language.ts';
import { useText } from '../../i18n/text.ts';
import { useAction } from '../../ui/action.ts';
import { confirm } from '../../ui/confirm.tsx';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { FaultAlert } from '../../ui/fault.tsx';
import { Page } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { ItemEditor, type ItemEditorProps } from './item-editor.tsx';
import { Mark } from './mark.tsx';
import { applyChecked } from './apply-checked.tsx';
import { type ConfigItem, itemQuery, sectionListQuery, sectionQuery } from './queries.ts';
import { texts } from './texts.ts';
import { UsedBy } from './used-by.tsx';
import { nameIn } from './yaml-text.ts';
import { isActive, isArchived } from '../../../../src/contract/state.ts';

interface ConfigScreenProps extends Omit<ItemEditorProps, 'code' | 'onApplied' | 'section'> {
  section: string;
  /** The screen's path below `/admin/`. */
  screen: string;
  /** The path segments after the screen's own. */
  path: readonly string[];
  title: string;
  hint?: ReactNode;
  /** Title of the button and of the page for a new item. */
  newTitle: string;
  /** Shown in the list, before the button for a new item. */
  actions?: ReactNode;
  /** Additional columns of the list. */
  columns?: readonly Column<ConfigItem>[];
  empty?: ReactNode;
  /** Shown on an item's page, below the title. */
  itemHint?: ComponentType<{ code: string }>;
  /** Shown on an item's page, above the editor. */
  above?: ComponentType<{ code: string }>;
}

export function ConfigScreen(props: ConfigScreenProps) {
  const { path, screen, title, newTitle } = props;
  const navigate = useNavigate();
  const [own] = path;
  const go = (rest: string) => void navigate({ to: '/admin/$', params: { _splat: `${screen}${rest}` } });
  if (own === undefined) {
    return (
      <Page
        title={title}
        hint={props.hint}
        actions={
          <>
            {props.actions}
            <Button leftSection={<IconPlus size={14} />} onClick={() => go('/new')}>
              {newTitle}
            </Button>
          </>
        }
      >
        <SectionTable {...props} label={title} onOpen={(code) => go(`/${encodeURIComponent(code)}`)} />
      </Page>
    );
  }
  const isNew = own === 'new';
  const code = isNew ? undefined : own;
  return <ItemPage key={own} {...props} code={code} onApplied={(written) => go(`/${encodeURIComponent(written)}`)} />;
}

function ItemPage(props: ConfigScreenProps & { code: string | undefined; onApplied: (code: string) => void }) {
  const { section, code, title, screen, above: Above, itemHint: Hint } = props;
  const language = useLanguage();
  const navigate = useNavigate();
  const items = useQuery(sectionQuery(section));
  const item = items.data?.find((one) => one.code === code);
  const name = code === undefined ? props.newTitle : nameIn(item?.name, language) || code;
  return (
    <Page
      title={name}
      hint={code === undefined ? undefined : Hint === undefined ? <code>{code}</code> : <Hint code={code} />}
      back={{ label: title, href: `/admin/${screen}` }}
      actions={
        isActive(item) && (
          <ArchiveButton
            section={section}
            code={item.code}
            after={() => void navigate({ to: '/admin/$', params: { _splat: screen } })}
          />
        )
      }
    >
      {code !== undefined && Above !== undefined && <Above code={code} />}
      <ItemEditor {...props} />
    </Page>
  );
}

interface SectionTableProps {
  section: string;
  label: string;
  columns?: readonly Column<ConfigItem>[];
  empty?: ReactNode;
  onOpen: (code: string) => void;
}

/** What uses the item, and who changed it when. */
function useCommonColumns(): Column<ConfigItem>[] {
  const t = useText(texts);
  return useMemo(
    () => [
      {
        key: 'usedBy',
        title: t.usedBy,
        value: (row) => row.usedBy?.count ?? 0,
        render: (row) => <UsedBy item={row} />,
        width: '9rem',
        minor: true,
      },
      {
        key: 'changed',
        title: t.changed,
        value: (row) => row.updatedAt ?? '',
        render: (row) => <Changed item={row} />,
        width: '13rem',
        minor: true,
      },
    ],
    [t],
  );
}

function Changed({ item: { updatedAt, changedBy } }: { item: ConfigItem }) {
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

/** The items of a section with code, name, last change and state. */
export function SectionTable({ section, label, columns: more, empty, onOpen }: SectionTableProps) {
  const t = useText(texts);
  const language = useLanguage();
  const [archive, setArchive] = useState(false);
  const items = useQuery(sectionListQuery(section));
  const common = useCommonColumns();
  const hasArchive = items.data?.some((item) => isArchived(item)) === true;
  const rows = items.data?.filter((item) => archive || isActive(item));
  const columns = useMemo(
    (): Column<ConfigItem>[] => [
      { key: 'name', title: t.name, value: (row) => nameIn(row.name, language) || row.code },
      {
        key: 'code',
        title: t.code,
        value: (row) => row.code,
        render: (row) => <code>{row.code}</code>,
        ...(more === undefined ? {} : { minor: true }),
      },
      ...(more ?? []),
      ...common,
      ...(archive
        ? [
            {
              key: 'state',
              title: t.state,
              value: (row: ConfigItem) => (isArchived(row) ? t.archived : t.active),
              render: (row: ConfigItem) => <StateMark state={row.state} />,
            },
          ]
        : []),
    ],
    [t, language, more, archive, common],
  );
  return (
    <>
      <FaultAlert error={items.error} retry={() => void items.refetch()} />
      <DataTable
        label={label}
        columns={columns}
        rows={rows}
        rowKey={(row) => row.id}
        onOpen={(row) => onOpen(row.code)}
        empty={empty}
        tools={
          hasArchive && (
            <Switch
              label={t.showArchived}
              checked={archive}
              onChange={(event) => setArchive(event.currentTarget.checked)}
            />
          )
        }
      />
    </>
  );
}

export function StateMark({ state }: { state: string }) {
  const t = useText(texts);
  return <Mark tone={state === 'ARCHIVED' ? 'off' : 'good'}>{state === 'ARCHIVED' ? t.archived : t.active}</Mark>;
}

/** Archives an item after a confirmation. If other items still refer to it, the service's fault is shown. */
export function ArchiveButton({ section, code, after }: { section: string; code: string; after?: () => void }) {
  const t = useText(texts);
  const client = useQueryClient();
  const archive = useAction({
    run: async () => {
      const { configVersion } = await client.ensureQueryData(itemQuery(section, code));
      return await applyChecked({ files: [], archive: [{ section, code }] }, configVersion, t);
    },
    touches: [[]],
    quiet: true,
    done: t.applied,
    ...(after === undefined ? {} : { after }),
  });
  const ask = async (): Promise<void> => {
    const question = { title: t.archiveTitle(code), body: t.archiveBody, yes: t.archive, danger: true };
    if (await confirm(question)) archive.mutate();
  };
  return (
    <>
      <FaultAlert error={archive.error} />
      <Button
        variant="default"
        leftSection={<IconArchive size={14} />}
        loading={archive.isPending}
        onClick={() => void ask()}
      >
        {t.archive}
      </Button>
    </>
  );
}
