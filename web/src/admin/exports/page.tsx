/** Exports records to a file: by type, text and condition. */
import { Button, Group, Input, NumberInput, SegmentedControl, Select, Stack, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { download } from '../../api/client.ts';
import type { FieldSchema } from '../../api/types.ts';
import { type DeskType, deskTypesQuery, typeFieldsQuery } from '../../desk/queries.ts';
import { ConditionEditor } from '../../filters/condition-editor.tsx';
import { type Condition, isComplete } from '../../filters/model.ts';
import { useSystemFields } from '../../filters/system-fields.ts';
import { useText } from '../../i18n/text.ts';
import { useAction } from '../../ui/action.ts';
import { saveFile } from '../../ui/csv.ts';
import { FaultAlert } from '../../ui/fault.tsx';
import { Page, Panel } from '../../ui/page.tsx';
import { texts } from './texts.ts';

const NO_STATES: DeskType['states'] = [];

export default function ExportPage() {
  const t = useText(texts);
  const { data: types } = useQuery(deskTypesQuery);
  const readable = (types ?? []).filter((one) => one.canRead);
  const [typeId, setTypeId] = useState<string | null>(null);
  const [format, setFormat] = useState<'CSV' | 'JSON'>('CSV');
  const [limit, setLimit] = useState<number | string>(1000);
  const [words, setWords] = useState('');
  const [condition, setCondition] = useState<Condition>();
  const type = readable.find((one) => one.id === typeId);
  const { data } = useQuery({ ...typeFieldsQuery(typeId ?? ''), enabled: typeId !== null });
  const system = useSystemFields(type?.states ?? NO_STATES);
  const fields = useMemo(() => {
    const own = (data?.fields as FieldSchema[] | undefined) ?? [];
    const named = new Set(own.map((field) => field.code));
    return [...own, ...system.filter((field) => !named.has(field.code))];
  }, [data, system]);
  const run = useAction({
    run: async () => {
      const query = {
        ...(words.trim() === '' ? {} : { q: words.trim() }),
        ...(condition === undefined ? {} : { filter: condition }),
      };
      const body = {
        typeDefinitionId: typeId,
        format,
        limit: Number(limit),
        ...(Object.keys(query).length === 0 ? {} : { query }),
      };
      const answer = await download('/exports', { body }, 'POST');
      const name = `${type?.code ?? 'export'}-${new Date().toISOString().slice(0, 10)}.${format.toLowerCase()}`;
      saveFile(name, await answer.blob());
      return name;
    },
    done: t.done,
    quiet: true,
  });
  const ready = typeId !== null && Number(limit) >= 1 && (condition === undefined || isComplete(condition));
  return (
    <Page title={t.title} hint={t.hint} narrow>
      <Panel>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            if (ready) run.mutate();
          }}
        >
          <Stack gap="sm">
            <FaultAlert error={run.error} />
            <Select
              label={t.type}
              required
              searchable
              data={readable.map((one) => ({ value: one.id, label: one.name }))}
              value={typeId}
              onChange={(next) => {
                setTypeId(next);
                setCondition(undefined);
              }}
            />
            <Group gap="md" align="flex-end">
              <Input.Wrapper label={t.format} labelElement="div" size="xs">
                <div>
                  <SegmentedControl
                    aria-label={t.format}
                    data={['CSV', 'JSON']}
                    value={format}
                    onChange={(next) => setFormat(next as 'CSV')}
                  />
                </div>
              </Input.Wrapper>
              <NumberInput label={t.limit} min={1} max={10_000} value={limit} onChange={setLimit} w="9rem" />
            </Group>
            <TextInput
              label={t.words}
              description={t.wordsHint}
              value={words}
              onChange={(event) => setWords(event.currentTarget.value)}
            />
            {typeId !== null && (
              <Input.Wrapper label={t.condition} labelElement="div" size="xs">
                <ConditionEditor key={typeId} value={condition} onChange={setCondition} fields={fields} />
              </Input.Wrapper>
            )}
            <Group justify="flex-end">
              <Button type="submit" loading={run.isPending} disabled={!ready}>
                {t.run}
              </Button>
            </Group>
          </Stack>
        </form>
      </Panel>
    </Page>
  );
}
