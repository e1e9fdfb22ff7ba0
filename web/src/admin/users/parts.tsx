/** Shared by the screens of users, groups and units: states, members, the list, and the name of a group or unit. */
import { ActionIcon, Button, Group, Select, Switch, Text, TextInput } from '@mantine/core';
import { IconArchive, IconArchiveOff, IconPlus, IconX } from '@tabler/icons-react';
import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { send } from '../../api/client.ts';
import { useHas } from '../../app/session.ts';
import { useText } from '../../i18n/text.ts';
import { useAction } from '../../ui/action.ts';
import { confirm } from '../../ui/confirm.tsx';
import type { Column } from '../../ui/data-table.tsx';
import { Page } from '../../ui/page.tsx';
import { PersonMark } from '../../ui/person.tsx';
import { NameInputs } from '../config/form-parts.tsx';
import { Mark } from '../config/mark.tsx';
import { CreateButton, useCreateFirst } from '../config/missing.tsx';
import { QueryTable } from '../config/query-table.tsx';
import { type LocalizedText, sectionQuery } from '../config/queries.ts';
import classes from './users.module.css';
import { IDENTITY } from './queries.ts';
import { texts } from './texts.ts';
import { isArchived } from '../../../../src/contract/state.ts';

interface TurnProps {
  /** `users`, `groups` or `org-units`. */
  kind: string;
  row: { id: string; state: string; revision: number };
  question: { title: string; body: string };
}

/** Archives after a confirmation, or restores. */
export function TurnButton({ kind, row, question }: TurnProps) {
  const t = useText(texts);
  const archived = isArchived(row);
  const turn = useAction({
    run: () =>
      send('POST', `/identity/${kind}/${row.id}/${archived ? 'restore' : 'archive'}`, {
        body: { expectedRevision: row.revision },
      }),
    touches: IDENTITY,
    done: archived ? t.restoredDone : t.archivedDone,
  });
  const ask = async (): Promise<void> => {
    if (archived || (await confirm({ ...question, yes: t.archive, danger: true }))) turn.mutate();
  };
  return (
    <Button
      variant="default"
      loading={turn.isPending}
      leftSection={archived ? <IconArchiveOff size={14} /> : <IconArchive size={14} />}
      onClick={() => void ask()}
    >
      {archived ? t.restore : t.archive}
    </Button>
  );
}

export function StateBadge({ state }: { state: string }) {
  const t = useText(texts);
  return <Mark tone={state === 'ARCHIVED' ? 'off' : 'good'}>{state === 'ARCHIVED' ? t.archived : t.active}</Mark>;
}

export interface MemberLine {
  id: string;
  name: string;
  /** Path below `/admin/`. */
  href: string;
  mark?: string;
  person?: boolean;
}

interface MemberListProps {
  label: string;
  empty: string;
  lines: readonly MemberLine[];
  onRemove?: (id: string) => void;
}

export function MemberList({ label, empty, lines, onRemove }: MemberListProps) {
  const t = useText(texts);
  if (lines.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        {empty}
      </Text>
    );
  }
  return (
    <ul className={classes.members} aria-label={label}>
      {lines.map((line) => (
        <li key={line.id}>
          <Link to="/admin/$" params={{ _splat: line.href }} className={classes.member}>
            {line.person === true && <PersonMark name={line.name} size={20} />}
            <span>{line.name}</span>
            {line.mark !== undefined && <small>{line.mark}</small>}
          </Link>
          {onRemove !== undefined && (
            <ActionIcon aria-label={t.remove(line.name)} onClick={() => onRemove(line.id)}>
              <IconX size={14} />
            </ActionIcon>
          )}
        </li>
      ))}
    </ul>
  );
}

interface AddFromProps {
  label: string;
  choices: readonly { value: string; label: string }[];
  onAdd: (value: string) => void;
  pending: boolean;
  /** The section of the choices, which is said to be empty if `none` of its items exist. */
  section: 'users' | 'groups';
  none: boolean;
}

/** A picker with an add button. */
export function AddFrom({ label, choices, onAdd, pending, section, none }: AddFromProps) {
  const t = useText(texts);
  const [value, setValue] = useState<string | null>(null);
  return (
    <Group gap="xs" align="flex-end" mt="sm" wrap="nowrap">
      <Select
        label={label}
        data={[...choices]}
        value={value}
        onChange={setValue}
        searchable
        limit={50}
        style={{ flex: 1 }}
        {...useCreateFirst(section, none ? 0 : undefined)}
      />
      <Button
        variant="default"
        leftSection={<IconPlus size={14} />}
        disabled={value === null}
        loading={pending}
        onClick={() => {
          if (value !== null) onAdd(value);
          setValue(null);
        }}
      >
        {t.add}
      </Button>
    </Group>
  );
}

interface StoredNameProps {
  section: 'groups' | 'orgUnits';
  /** Undefined for a new item, which has no name yet. */
  row: { id: string; name: string } | undefined;
  /** The typed name; undefined if unchanged. */
  value: LocalizedText | undefined;
  disabled?: boolean;
  onChange: (name: LocalizedText) => void;
}

/** True if the name is not blank in at least one language. */
export function isNamed(name: LocalizedText | undefined): name is LocalizedText {
  if (name === undefined) return false;
  return typeof name === 'string' ? name.trim() !== '' : Object.values(name).some((text) => text.trim() !== '');
}

/** The name of a new item, which is created with a single text. */
export function textOf(name: LocalizedText | undefined): string {
  return typeof name === 'string' ? name : '';
}

export function StoredName({ section, row, value, disabled = false, onChange }: StoredNameProps) {
  const t = useText(texts);
  const has = useHas();
  const both = row !== undefined && has('config.manage');
  const stored = useQuery({ ...sectionQuery(section), enabled: both });
  const before = stored.data?.find((one) => one.id === row?.id)?.name as LocalizedText | undefined;
  // A name in one language would replace those in all others.
  if (both && !disabled && before !== undefined) {
    return (
      <NameInputs
        stacked
        item={{ name: value ?? before }}
        set={(_path, name) => onChange((name ?? '') as LocalizedText)}
      />
    );
  }
  return (
    <TextInput
      label={t.name}
      value={typeof value === 'string' ? value : (row?.name ?? '')}
      required
      disabled={disabled || both}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}

interface RosterProps<Row> {
  section: 'users' | 'groups';
  title: string;
  hint: string;
  /** Label of the button for a new item. */
  create: string;
  /** The screen's path below `/admin/`. */
  screen: string;
  query: UseQueryResult<Row[]>;
  archived: readonly Row[] | undefined;
  columns: readonly Column<Row>[];
}

export function Roster<Row extends { id: string; state: string }>(props: RosterProps<Row>) {
  const { section, title, screen, query, columns } = props;
  const t = useText(texts);
  const navigate = useNavigate();
  const [archive, setArchive] = useState(false);
  const state = useMemo(
    (): readonly Column<Row>[] => [
      {
        key: 'state',
        title: t.state,
        value: (row) => (isArchived(row) ? t.archived : t.active),
        render: (row) => <StateBadge state={row.state} />,
      },
    ],
    [t],
  );
  const rows = useMemo(
    () => (query.data === undefined ? undefined : [...query.data, ...(archive ? (props.archived ?? []) : [])]),
    [query.data, props.archived, archive],
  );
  const go = (rest: string): void => void navigate({ to: '/admin/$', params: { _splat: `${screen}/${rest}` } });
  const create = { label: props.create, onClick: () => go('new') };
  return (
    <Page title={title} hint={props.hint} actions={<CreateButton {...create} />}>
      <QueryTable
        section={section}
        label={title}
        query={query}
        rows={rows}
        columns={columns}
        {...(archive ? { last: state } : {})}
        create={create}
        onOpen={(row) => go(row.id)}
        tools={
          <Switch
            label={t.showArchived}
            checked={archive}
            onChange={(event) => setArchive(event.currentTarget.checked)}
          />
        }
      />
    </Page>
  );
}
