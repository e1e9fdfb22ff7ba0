/**
 * A complete screen of one section: the list with its archive at `/admin/<screen>`, a new item at `…/new`, an item at
 * `…/<code>`. `configPage` makes the page of a screen from its texts and its form.
 */
import { Button, Switch } from '@mantine/core';
import { IconArchive } from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ComponentType, type ReactNode, useMemo, useState } from 'react';
import { useLanguage } from '../../i18n/language.ts';
import { type TextOf, useText } from '../../i18n/text.ts';
import { useAction } from '../../ui/action.ts';
import { confirm } from '../../ui/confirm.tsx';
import type { Column } from '../../ui/data-table.tsx';
import { FaultAlert } from '../../ui/fault.tsx';
import { Page, type ScreenProps } from '../../ui/page.tsx';
import { ItemEditor, type ItemEditorProps } from './item-editor.tsx';
import { Mark } from './mark.tsx';
import { applyChecked } from './apply-checked.tsx';
import { CreateButton } from './missing.tsx';
import type { PagedSection } from './pages.ts';
import { QueryTable } from './query-table.tsx';
import { type ConfigItem, itemQuery, sectionListQuery, sectionQuery } from './queries.ts';
import { texts } from './texts.ts';
import { nameIn } from './yaml-text.ts';
import { isActive, isArchived } from '../../../../src/contract/state.ts';

interface ConfigScreenProps extends Omit<ItemEditorProps, 'code' | 'onApplied' | 'section'> {
  section: PagedSection;
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
            <CreateButton label={newTitle} onClick={() => go('/new')} />
          </>
        }
      >
        <SectionTable
          {...props}
          label={title}
          create={{ label: newTitle, onClick: () => go('/new') }}
          onOpen={(code) => go(`/${encodeURIComponent(code)}`)}
        />
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
  section: PagedSection;
  label: string;
  columns?: readonly Column<ConfigItem>[];
  create: { label: string; onClick: () => void };
  onOpen: (code: string) => void;
}

/** The items of a section with code, name, use, last change and state. */
function SectionTable({ section, label, columns: more, create, onOpen }: SectionTableProps) {
  const t = useText(texts);
  const language = useLanguage();
  const [archive, setArchive] = useState(false);
  const items = useQuery(sectionListQuery(section));
  const hasArchive = items.data?.some((item) => isArchived(item)) === true;
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
    ],
    [t, language, more],
  );
  const state = useMemo(
    (): Column<ConfigItem>[] => [
      {
        key: 'state',
        title: t.state,
        value: (row) => (isArchived(row) ? t.archived : t.active),
        render: (row) => <StateMark state={row.state} />,
      },
    ],
    [t],
  );
  return (
    <QueryTable
      section={section}
      label={label}
      query={items}
      rows={items.data?.filter((item) => archive || isActive(item))}
      columns={columns}
      {...(archive ? { last: state } : {})}
      create={create}
      onOpen={(row) => onOpen(row.code)}
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

interface PageOptions extends Omit<ConfigScreenProps, 'path' | 'title' | 'hint' | 'newTitle'> {
  texts: TextOf<{ title: string; hint: string; create: string }>;
}

/** The page of a section that needs nothing but its form and its texts. */
export function configPage({ texts: own, ...rest }: PageOptions): ComponentType<ScreenProps> {
  return function SectionPage({ path }: ScreenProps) {
    const t = useText(own);
    return <ConfigScreen {...rest} path={path} title={t.title} hint={t.hint} newTitle={t.create} />;
  };
}
