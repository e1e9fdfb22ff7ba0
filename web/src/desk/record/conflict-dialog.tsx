/** Conflict dialog: shows the changes of others and the user's own, with a choice per field. */
import { Button, Group, Radio, Stack, Table, Text } from '@mantine/core';
import { useState } from 'react';
import type { FieldSchema } from '../../api/types.ts';
import { FieldValue } from '../../fields/value.tsx';
import { useText } from '../../i18n/text.ts';
import { Time } from '../../ui/time.tsx';
import { texts } from '../texts.ts';
import type { Conflict, RecordDraft } from './draft.ts';
import { Dialog } from '../../ui/dialog.tsx';

export function ConflictDialog({ draft, fields }: { draft: RecordDraft; fields: readonly FieldSchema[] }) {
  const t = useText(texts);
  return (
    <Dialog opened={draft.conflict !== undefined} onClose={draft.dismiss} title={t.conflictTitle} size="xl">
      {draft.conflict !== undefined && (
        <Choice key={draft.conflict.latest.revision} draft={draft} fields={fields} conflict={draft.conflict} />
      )}
    </Dialog>
  );
}

type Side = 'mine' | 'theirs';

interface ChoiceProps {
  draft: RecordDraft;
  fields: readonly FieldSchema[];
  conflict: Conflict;
}

function Choice({ draft, fields, conflict }: ChoiceProps) {
  const t = useText(texts);
  const { changed, latest } = conflict;
  const [theirs, setTheirs] = useState<ReadonlySet<string>>(new Set());
  const shown = fields.filter((field) => changed.has(field.code));
  const both = shown.filter((field) => draft.has(field.code));
  const choose = (code: string, which: Side): void =>
    setTheirs((before) =>
      which === 'theirs' ? new Set([...before, code]) : new Set([...before].filter((one) => one !== code)),
    );
  const settle = (): void =>
    draft.settle(Object.fromEntries(Object.entries(draft.values).filter(([code]) => !theirs.has(code))), latest);
  return (
    <Stack gap="md">
      <Text size="sm">{both.length > 0 ? t.conflictBoth : t.conflictFree}</Text>
      <Table.ScrollContainer minWidth={520}>
        <Table verticalSpacing="xs" fz="sm">
          <Table.Thead>
            <Table.Tr>
              <Table.Th />
              <Table.Th>{t.before}</Table.Th>
              <Table.Th>{t.theirs}</Table.Th>
              <Table.Th>{t.mine}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {shown.map((field) => (
              <ConflictRow
                key={field.code}
                field={field}
                draft={draft}
                conflict={conflict}
                theirs={theirs.has(field.code)}
                onChoose={(which) => choose(field.code, which)}
              />
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={draft.dismiss}>
          {t.cancel}
        </Button>
        <Button onClick={settle} loading={draft.saving}>
          {both.length > 0 ? t.saveChosen : t.save}
        </Button>
      </Group>
    </Stack>
  );
}

interface ConflictRowProps {
  field: FieldSchema;
  draft: RecordDraft;
  conflict: Conflict;
  /** True if the other user's value is chosen. */
  theirs: boolean;
  onChoose: (which: Side) => void;
}

/** One changed field: its value before, the other user's value and one's own, with a choice if both changed it. */
function ConflictRow({ field, draft, conflict, theirs, onChoose }: ConflictRowProps) {
  const t = useText(texts);
  const { changed, latest } = conflict;
  const change = changed.get(field.code);
  const mine = draft.has(field.code);
  const shown = (value: unknown) => <FieldValue field={field} value={value} recordId={latest.id} />;
  const option = (which: Side, label: string) =>
    mine && (
      <Radio
        mt={4}
        name={`conflict-${field.code}`}
        label={label}
        checked={theirs === (which === 'theirs')}
        onChange={() => onChoose(which)}
      />
    );
  return (
    <Table.Tr data-conflict={field.code}>
      <Table.Td>
        <Text size="sm" fw={550}>
          {field.name}
        </Text>
        {change?.at !== undefined && (
          <Text size="xs" c="dimmed">
            {change.actor !== null && `${change.actor.displayName}, `}
            <Time at={change.at} />
          </Text>
        )}
      </Table.Td>
      <Table.Td>{shown(draft.base.values[field.code])}</Table.Td>
      <Table.Td>
        {shown(latest.values[field.code])}
        {option('theirs', t.takeTheirs)}
      </Table.Td>
      <Table.Td>
        {mine && shown(draft.values[field.code])}
        {option('mine', t.takeMine)}
      </Table.Td>
    </Table.Tr>
  );
}
