/** The results of a bulk action, one line for each record. */
import { Box, Button, Group, Stack, Table, Text } from '@mantine/core';
import { address, type RefusedRequest } from '../../api/client.ts';
import type { BulkResult } from '../../api/types.ts';
import { useText } from '../../i18n/text.ts';
import { CsvButton } from '../../ui/download.tsx';
import { useNotedFaultText, WhyRefused } from '../../ui/fault.tsx';
import type { BulkBody } from './bulk-forms.tsx';
import type { Row } from './source.ts';
import { bulkTexts } from './bulk-texts.ts';
import { texts } from './texts.ts';

/** Maximum number of results shown; the file has all. */
const SHOWN = 200;

/** A finished bulk action. `rows` are the records as they were selected: some may have left the list since. */
export interface Outcome {
  body: BulkBody;
  rows: readonly Row[];
  results: readonly BulkResult[];
}

const SINGLE = {
  update: { method: 'PATCH', path: '' },
  transition: { method: 'POST', path: '/transitions' },
  archive: { method: 'DELETE', path: '' },
} as const;

/** The request for one record that does the same as its item. */
function singleOf({ operation, items }: BulkBody, id: string): RefusedRequest {
  const { method, path } = SINGLE[operation];
  const { objectId: _id, ...body } = items.find(({ objectId }) => objectId === id) ?? { objectId: id };
  return { method, path: address(`/objects/${id}${path}`), body };
}

interface ResultsProps extends Outcome {
  pending: boolean;
  onRepeat: (failed: readonly BulkResult[]) => void;
  onClose: () => void;
}

export default function Results({ body, results, rows, pending, onRepeat, onClose }: ResultsProps) {
  const t = useText(texts);
  const own = useText(bulkTexts);
  const say = useNotedFaultText();
  const names = new Map(rows.map((row) => [row.id, [row.number, row.title].filter(Boolean).join(' · ')]));
  const failed = results.filter(({ status }) => status === 'FAILED');
  const done = results.length - failed.length;
  const outcome = ({ error }: BulkResult): string => (error === undefined || error === null ? own.bulkOk : say(error));
  const ordered = [...failed, ...results.filter((result) => result.status === 'SUCCEEDED')];
  return (
    <Stack gap="sm">
      <Group gap="md">
        <Text size="sm">{own.bulkDone(done)}</Text>
        {failed.length > 0 && (
          <Text size="sm" c="var(--mantine-color-error)">
            {own.bulkFailed(failed.length)}
          </Text>
        )}
        <Box ml="auto">
          <CsvButton
            name={own.bulkResults}
            header={[own.bulkRecord, own.bulkOutcome]}
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
                {result.status === 'FAILED' && <WhyRefused request={singleOf(body, result.objectId)} />}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      {ordered.length > SHOWN && (
        <Text size="xs" c="dimmed">
          {own.bulkMore(ordered.length - SHOWN)}
        </Text>
      )}
      <Group justify="flex-end">
        {failed.length > 0 && (
          <Button variant="default" loading={pending} onClick={() => onRepeat(failed)}>
            {own.bulkRepeat(failed.length)}
          </Button>
        )}
        <Button onClick={onClose}>{t.close}</Button>
      </Group>
    </Stack>
  );
}
