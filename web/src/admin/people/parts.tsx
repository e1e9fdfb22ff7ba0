/** Parts shared by the screens of users, groups and units: archiving, member lists, and pickers from loaded lists. */
import { ActionIcon, Button, Group, Select, Text } from '@mantine/core';
import { IconArchive, IconArchiveOff, IconPlus, IconX } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { send } from '../../api/client.ts';
import { useText } from '../../i18n/text.ts';
import { useAction } from '../../ui/action.ts';
import { confirm } from '../../ui/confirm.tsx';
import { PersonMark } from '../../ui/person.tsx';
import { Mark } from '../config/mark.tsx';
import classes from './people.module.css';
import { IDENTITY } from './queries.ts';
import { texts } from './texts.ts';

interface TurnProps {
  /** `users`, `groups` or `org-units`. */
  kind: string;
  row: { id: string; state: string; revision: number };
  question: { title: string; body: string };
}

/** Archives after a confirmation, or restores. */
export function TurnButton({ kind, row, question }: TurnProps) {
  const t = useText(texts);
  const archived = row.state === 'ARCHIVED';
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
}

/** A picker with an add button. */
export function AddFrom({ label, choices, onAdd, pending }: AddFromProps) {
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
