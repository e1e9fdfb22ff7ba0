/** Conflict dialog: shows the changes of others and the user's own, with a choice per field. */
import { Button, Group, Modal, Radio, Stack, Table, Text } from '@mantine/core';
import { useState } from 'react';
import type { FieldSchema } from '../../api/types.ts';
import { FieldValue } from '../../fields/value.tsx';
import { useText } from '../../i18n/text.ts';
import { Time } from '../../ui/time.tsx';
import { texts } from '../texts.ts';
import type { Conflict, RecordDraft } from './draft.ts';

export function ConflictDialog({ draft, fields }: { draft: RecordDraft; fields: readonly FieldSchema[] }) {
  const t = useText(texts);
  return (
    <Modal opened={draft.conflict !== undefined} onClose={draft.dismiss} title={t.conflictTitle} size="xl">
      {draft.conflict !== undefined && (
        <Choice key={draft.conflict.latest.revision} draft={draft} fields={fields} conflict={draft.conflict} />
      )}
    </Modal>
  );
}

interface ChoiceProps {
  draft: RecordDraft;
  fields: readonly FieldSchema[];
  conflict: Conflict;
}

function Choice({ draft, fields, conflict }: ChoiceProps) {
  const t = useText(texts);
  const { changed, latest } = conflict;
  const [theirs, setTheirs] = useState<ReadonlySet<string>>(new Set());
  // If a field was changed several times, only the last change matters.
  const last = new Map(changed.map((change) => [change.field, change]));
  const shown = fields.filter((field) => last.has(field.code));
  const both = shown.filter((field) => draft.has(field.code));
  const choose = (code: string, which: string): void =>
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
            {shown.map((field) => {
              const change = last.get(field.code);
              const mine = draft.has(field.code);
              return (
                <Table.Tr key={field.code} data-conflict={field.code}>
                  <Table.Td>
                    <Text size="sm" fw={550}>
                      {field.name}
                    </Text>
                    {change !== undefined && (
                      <Text size="xs" c="dimmed">
                        {change.actor.displayName}, <Time at={change.at} />
                      </Text>
                    )}
                  </Table.Td>
                  <Table.Td>
                    <FieldValue field={field} value={draft.base.values[field.code]} recordId={latest.id} />
                  </Table.Td>
                  <Table.Td>
                    <FieldValue field={field} value={latest.values[field.code]} recordId={latest.id} />
                    {mine && (
                      <Radio
                        mt={4}
                        name={`conflict-${field.code}`}
                        label={t.takeTheirs}
                        checked={theirs.has(field.code)}
                        onChange={() => choose(field.code, 'theirs')}
                      />
                    )}
                  </Table.Td>
                  <Table.Td>
                    {mine && (
                      <>
                        <FieldValue field={field} value={draft.values[field.code]} recordId={latest.id} />
                        <Radio
                          mt={4}
                          name={`conflict-${field.code}`}
                          label={t.takeMine}
                          checked={!theirs.has(field.code)}
                          onChange={() => choose(field.code, 'mine')}
                        />
                      </>
                    )}
                  </Table.Td>
                </Table.Tr>
              );
            })}
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
