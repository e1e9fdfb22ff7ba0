/** Bulk actions on selected records, and the result of each. */
import { Box, Button, Group, Modal, Stack, Table, Text } from '@mantine/core';
import { IconArchive, IconArrowRight, IconPencil } from '@tabler/icons-react';
import { useState } from 'react';
import { call } from '../../api/client.ts';
import type { BulkResult, bulk } from '../../api/types.ts';
import { useText } from '../../i18n/text.ts';
import { useAction } from '../../ui/action.ts';
import { confirm } from '../../ui/confirm.tsx';
import { CsvButton } from '../../ui/csv-button.tsx';
import { useNotedFaultText } from '../../ui/fault.tsx';
import type { DeskType } from '../queries.ts';
import { type BulkBody, BulkTransition, BulkUpdate } from './bulk-forms.tsx';
import classes from './list.module.css';
import type { Row } from './source.ts';
import { texts } from './texts.ts';

/** Maximum number of results shown; the file has all. */
const SHOWN = 200;

export interface BulkBarProps {
  rows: readonly Row[];
  types: readonly DeskType[];
  onClear: () => void;
}

export function BulkBar({ rows, types, onClear }: BulkBarProps) {
  const t = useText(texts);
  const [form, setForm] = useState<'update' | 'transition'>();
  const [results, setResults] = useState<readonly BulkResult[]>();
  const run = useBulk((output) => {
    setForm(undefined);
    setResults(output);
  });
  const chosenTypes = new Set(rows.map((row) => row.typeDefinitionId));
  const type = chosenTypes.size === 1 ? types.find((one) => chosenTypes.has(one.id)) : undefined;
  const every = (may: (one: DeskType) => boolean): boolean =>
    [...chosenTypes].every((id) => types.some((one) => one.id === id && may(one)));
  const close = (): void => {
    setResults(undefined);
    onClear();
  };
  return (
    <section className={classes.bulk} aria-label={t.selected(rows.length)}>
      <strong aria-live="polite">{t.selected(rows.length)}</strong>
      {type?.canUpdate === true && (
        <Button variant="default" leftSection={<IconPencil size={14} />} onClick={() => setForm('update')}>
          {t.bulkUpdate}
        </Button>
      )}
      {type?.canTransition === true && type.states.length > 0 && (
        <Button variant="default" leftSection={<IconArrowRight size={14} />} onClick={() => setForm('transition')}>
          {t.bulkTransition}
        </Button>
      )}
      {every((one) => one.canArchive) && (
        <ArchiveButton rows={rows} loading={run.isPending && form === undefined} onRun={run.mutate} />
      )}
      {type === undefined && (
        <Text size="xs" c="dimmed">
          {t.bulkOneType}
        </Text>
      )}
      <Button variant="subtle" color="gray" onClick={onClear} ml="auto">
        {t.clearSelection}
      </Button>
      <BulkForms form={form} type={type} setForm={setForm} rows={rows} run={run} />
      <Modal opened={results !== undefined} onClose={close} title={t.bulkResults} size="lg">
        {results !== undefined && <Results results={results} rows={rows} onClose={close} />}
      </Modal>
    </section>
  );
}

function useBulk(after: (results: readonly BulkResult[]) => void) {
  return useAction({
    run: (body: BulkBody) => call<typeof bulk.bulk>('POST', '/bulk', { body }),
    touches: [['records'], ['record']],
    after,
  });
}

interface ArchiveButtonProps {
  rows: readonly Row[];
  loading: boolean;
  onRun: (body: BulkBody) => void;
}

/** Archives the rows after a confirmation. */
function ArchiveButton({ rows, loading, onRun }: ArchiveButtonProps) {
  const t = useText(texts);
  const archive = async (): Promise<void> => {
    const title = t.bulkArchiveTitle(rows.length);
    if (!(await confirm({ title, body: t.bulkArchiveBody, yes: t.bulkArchive, danger: true }))) return;
    onRun({
      operation: 'archive',
      items: rows.map((row) => ({ objectId: row.id, expectedRevision: row.revision })),
    });
  };
  return (
    <Button variant="default" leftSection={<IconArchive size={14} />} loading={loading} onClick={() => void archive()}>
      {t.bulkArchive}
    </Button>
  );
}

interface BulkFormsProps {
  form: 'update' | 'transition' | undefined;
  type: DeskType | undefined;
  setForm: (next: 'update' | 'transition' | undefined) => void;
  rows: readonly Row[];
  run: ReturnType<typeof useBulk>;
}

function BulkForms({ form, type, setForm, rows, run }: BulkFormsProps) {
  const t = useText(texts);
  return (
    <Modal
      opened={form !== undefined && type !== undefined}
      onClose={() => setForm(undefined)}
      title={form === 'update' ? t.bulkUpdate : t.bulkTransition}
    >
      {form === 'update' && type !== undefined && (
        <BulkUpdate rows={rows} type={type} pending={run.isPending} error={run.error} onRun={run.mutate} />
      )}
      {form === 'transition' && (
        <BulkTransition
          rows={rows}
          pending={run.isPending}
          error={run.error}
          onRun={run.mutate}
          onCancel={() => setForm(undefined)}
        />
      )}
    </Modal>
  );
}

function Results({
  results,
  rows,
  onClose,
}: {
  results: readonly BulkResult[];
  rows: readonly Row[];
  onClose: () => void;
}) {
  const t = useText(texts);
  const say = useNotedFaultText();
  const names = new Map(rows.map((row) => [row.id, [row.number, row.title].filter(Boolean).join(' · ')]));
  const failed = results.filter((result) => result.status === 'FAILED');
  const done = results.length - failed.length;
  const outcome = ({ error }: BulkResult): string => (error === undefined || error === null ? t.bulkOk : say(error));
  const ordered = [...failed, ...results.filter((result) => result.status === 'SUCCEEDED')];
  return (
    <Stack gap="sm">
      <Group gap="md">
        <Text size="sm">{t.bulkDone(done)}</Text>
        {failed.length > 0 && (
          <Text size="sm" c="var(--mantine-color-error)">
            {t.bulkFailed(failed.length)}
          </Text>
        )}
        <Box ml="auto">
          <CsvButton
            name={t.bulkResults}
            header={[t.bulkRecord, t.bulkOutcome]}
            rows={() => ordered.map((result) => [names.get(result.objectId) ?? result.objectId, outcome(result)])}
          />
        </Box>
      </Group>
      <Table fz="sm" verticalSpacing={4}>
        <Table.Tbody>
          {ordered.slice(0, SHOWN).map((result) => (
            <Table.Tr key={result.objectId} data-result={result.status}>
              <Table.Td>{names.get(result.objectId) ?? result.objectId}</Table.Td>
              <Table.Td c={result.status === 'FAILED' ? 'var(--mantine-color-error)' : 'dimmed'}>
                {outcome(result)}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      {ordered.length > SHOWN && (
        <Text size="xs" c="dimmed">
          {t.bulkMore(ordered.length - SHOWN)}
        </Text>
      )}
      <Group justify="flex-end">
        <Button onClick={onClose}>{t.close}</Button>
      </Group>
    </Stack>
  );
}
