/** Exports records to a file: by type, text and condition. */
import { Group, Input, NumberInput, SegmentedControl, Select, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { download } from '../../api/client.ts';
import type { FieldSchema } from '../../api/types.ts';
import { type DeskType, deskTypesQuery, typeFieldsQuery } from '../../desk/queries.ts';
import { ConditionEditor } from '../../filters/condition-editor.tsx';
import { type Condition, isComplete } from '../../filters/model.ts';
import { useSystemFields } from '../../filters/system-fields.ts';
import { useText } from '../../i18n/text.ts';
import { saveFile } from '../../ui/download.tsx';
import { FormFrame, useForm } from '../../ui/form.tsx';
import { Page, Panel } from '../../ui/page.tsx';
import { texts } from './texts.ts';

export default function ExportPage() {
  const t = useText(texts);
  const { data: types } = useQuery(deskTypesQuery);
  const readable = (types ?? []).filter((one) => one.canRead);
  const form = useForm({
    start: START,
    disposable: true,
    send: async (values) => {
      const type = readable.find((one) => one.id === values.typeId);
      const answer = await download('/exports', { body: bodyOf(values) }, 'POST');
      const name = fileName(type?.code ?? 'export', values.format);
      saveFile(name, await answer.blob());
      return name;
    },
    ready: ({ typeId, limit, condition }) =>
      typeId !== null && Number(limit) >= 1 && (condition === undefined || isComplete(condition)),
    done: t.done,
  });
  const { typeId, format, condition } = form.values;
  const type = readable.find((one) => one.id === typeId);
  return (
    <Page title={t.title} hint={t.hint} narrow>
      <Panel>
        <FormFrame form={form} label={t.run}>
          <Select
            label={t.type}
            required
            searchable
            data={readable.map((one) => ({ value: one.id, label: one.name }))}
            value={typeId}
            onChange={(next) => form.set({ typeId: next, condition: undefined })}
          />
          <Group gap="md" align="flex-end">
            <Input.Wrapper label={t.format} labelElement="div" size="xs">
              <div>
                <SegmentedControl
                  aria-label={t.format}
                  data={['CSV', 'JSON']}
                  value={format}
                  onChange={(next) => form.set({ format: next as Values['format'] })}
                />
              </div>
            </Input.Wrapper>
            <NumberInput label={t.limit} min={1} max={10_000} w="9rem" {...form.input('limit')} />
          </Group>
          <TextInput label={t.words} description={t.wordsHint} {...form.text('words')} />
          {type !== undefined && (
            <ConditionInput
              key={type.id}
              type={type}
              value={condition}
              onChange={(next) => form.set({ condition: next })}
            />
          )}
        </FormFrame>
      </Panel>
    </Page>
  );
}

interface Values {
  typeId: string | null;
  format: 'CSV' | 'JSON';
  limit: number | string;
  words: string;
  condition: Condition | undefined;
}

const START: Values = { typeId: null, format: 'CSV', limit: 1000, words: '', condition: undefined };

function fileName(code: string, format: Values['format']): string {
  return `${code}-${new Date().toISOString().slice(0, 10)}.${format.toLowerCase()}`;
}

function bodyOf({ typeId, format, limit, words, condition }: Values) {
  const query = {
    ...(words.trim() === '' ? {} : { q: words.trim() }),
    ...(condition === undefined ? {} : { filter: condition }),
  };
  return {
    typeDefinitionId: typeId,
    format,
    limit: Number(limit),
    ...(Object.keys(query).length === 0 ? {} : { query }),
  };
}

interface ConditionInputProps {
  type: DeskType;
  value: Condition | undefined;
  onChange: (condition: Condition | undefined) => void;
}

/** A condition on the type's fields and the system fields. */
function ConditionInput({ type, value, onChange }: ConditionInputProps) {
  const t = useText(texts);
  const { data } = useQuery(typeFieldsQuery(type.id));
  const system = useSystemFields(type.states);
  const fields = useMemo(() => {
    const own = (data?.fields as FieldSchema[] | undefined) ?? [];
    const named = new Set(own.map((field) => field.code));
    return [...own, ...system.filter((field) => !named.has(field.code))];
  }, [data, system]);
  return (
    <Input.Wrapper label={t.condition} labelElement="div" size="xs">
      <ConditionEditor value={value} onChange={onChange} fields={fields} />
    </Input.Wrapper>
  );
}
