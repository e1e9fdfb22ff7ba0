/** Form of a new import definition: target, matching of existing records, and mapping. */
import { Autocomplete, Button, FileInput, Group, Select, Stack, TextInput } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useEffectEvent, useState } from 'react';
import { call } from '../../api/client.ts';
import type { imports } from '../../api/types.ts';
import { deskTypesQuery } from '../../desk/queries.ts';
import { useText } from '../../i18n/text.ts';
import { type Form, FormFrame, useForm } from '../../ui/form.tsx';
import { Page, Panel } from '../../ui/page.tsx';
import { codeAfter } from '../config/codes.ts';
import { useCreateFirst } from '../config/missing.tsx';
import { columnsOf, firstRows, textOf } from './file.ts';
import { guessIdentifier, guessTargets, guessTransforms, type TargetField } from './guess.ts';
import classes from './imports.module.css';
import { MappingLine, type MappingValues, useTargets } from './mapping-line.tsx';
import {
  definitionsKey,
  definitionsQuery,
  type Format,
  lastSample,
  type Mode,
  type NewDefinition,
  type TargetKind,
} from './queries.ts';
import { texts } from './texts.ts';

interface Line extends MappingValues {
  key: number;
}

const blank = (key: number, source = ''): Line => ({ key, source, target: null, transform: [], precedence: 100 });

const isUsed = (line: Line): boolean => line.source.trim() !== '' && line.target !== null;

export function DefinitionForm() {
  const t = useText(texts);
  const navigate = useNavigate();
  const go = (splat: string): void => void navigate({ to: '/admin/$', params: { _splat: splat } });
  const form = useForm({
    start: START,
    send: (values) => call<typeof imports.createDefinition>('POST', '/import-definitions', { body: bodyOf(values) }),
    ready: ({ code, source, externalId, lines, kind, type }) =>
      [code, source, externalId].every((text) => text.trim() !== '') &&
      lines.some(isUsed) &&
      (kind !== 'object' || type !== null),
    touches: [definitionsKey],
    done: t.created,
    after: (made) => {
      lastSample.definitionId = made.id;
      go(`imports/definitions/${made.id}`);
    },
  });
  return (
    <Page title={t.create} back={{ label: t.back, href: '/admin/imports' }}>
      <FormFrame form={form} label={t.save} onCancel={() => go('imports')}>
        <Panel>
          <TargetInputs form={form} />
        </Panel>
        <Panel title={t.mapping}>
          <MappingInputs form={form} />
        </Panel>
      </FormFrame>
    </Page>
  );
}

interface Values {
  code: string;
  name: string;
  kind: TargetKind;
  type: string | null;
  format: Format;
  mode: Mode;
  source: string;
  externalId: string;
  lines: readonly Line[];
}

const START: Values = {
  code: '',
  name: '',
  kind: 'object',
  type: null,
  format: 'CSV',
  mode: 'UPSERT',
  source: '',
  externalId: '',
  lines: [blank(0)],
};

function bodyOf({ code, name, kind, type, format, mode, source, externalId, lines }: Values): NewDefinition {
  return {
    code: code.trim(),
    ...(name.trim() === '' ? {} : { name: name.trim() }),
    targetKind: kind as NewDefinition['targetKind'],
    ...(kind === 'object' && type !== null ? { targetTypeId: type } : {}),
    format: format as NewDefinition['format'],
    mode: mode as NewDefinition['mode'],
    sourceCode: source.trim(),
    resolver: { externalIdField: externalId.trim() },
    mapping: lines.filter(isUsed).map((line) => ({
      source: line.source.trim(),
      target: line.target ?? '',
      ...(line.transform.length === 0 ? {} : { transform: line.transform }),
      precedence: Number(line.precedence),
    })),
  };
}

/** What is imported, from which source, and how rows meet existing records. */
function TargetInputs({ form }: { form: Form<Values> }) {
  const t = useText(texts);
  const { data } = useQuery(deskTypesQuery);
  const types = data ?? [];
  const missing = useCreateFirst('types', data?.length);
  const codes = useQuery(definitionsQuery).data?.map((one) => one.code) ?? [];
  const { kind, mode, format } = form.values;
  return (
    <div className={classes.grid}>
      <TextInput
        label={t.name}
        description=" "
        value={form.values.name}
        onChange={({ currentTarget: { value: name } }) => {
          const { code, source, name: before } = form.values;
          const next = codeAfter(code, before, name, codes);
          form.set({ name, code: next, ...(source === code ? { source: next } : {}) });
        }}
      />
      <TextInput label={t.code} description={t.codeHint} required {...form.text('code')} />
      <TextInput label={t.source} description={t.sourceHint} required {...form.text('source')} />
      <Select
        label={t.target}
        allowDeselect={false}
        data={(['object', 'user', 'group', 'organization'] as const).map((one) => ({ value: one, label: t[one] }))}
        value={kind}
        onChange={(next) => form.set({ kind: next ?? 'object' })}
      />
      {kind === 'object' && (
        <Select
          label={t.type}
          required
          searchable
          data={types.map((one) => ({ value: one.id, label: one.name }))}
          {...missing}
          {...form.input('type')}
        />
      )}
      <Select
        label={t.mode}
        allowDeselect={false}
        data={(['UPSERT', 'CREATE_ONLY', 'UPDATE_ONLY'] as const).map((one) => ({ value: one, label: t[one] }))}
        value={mode}
        onChange={(next) => form.set({ mode: next ?? 'UPSERT' })}
      />
      <Select
        label={t.format}
        allowDeselect={false}
        data={['CSV', 'JSON'] as const}
        value={format}
        onChange={(next) => form.set({ format: next ?? 'CSV' })}
      />
    </div>
  );
}

/** The column that identifies rows, and the field of each column; a sample file fills both. */
function MappingInputs({ form }: { form: Form<Values> }) {
  const t = useText(texts);
  const { kind, type, lines } = form.values;
  const [sample, setSample] = useState<Sample>();
  const columns = sample?.columns ?? [];
  const fields = useTargets(kind, type);
  const linesFor = useGuess(fields);
  // The fields of a type that is chosen after the file arrive later.
  const target = fields.map(({ value }) => value).join();
  const guess = useEffectEvent((from: Sample) => form.set({ lines: linesFor(from) }));
  useEffect(() => {
    if (sample !== undefined && target !== '') guess(sample);
  }, [sample, target]);
  const readSample = async (file: File | null): Promise<void> => {
    if (file === null) return;
    const text = await textOf(file);
    const [found, rows] = [columnsOf(text), firstRows(text)];
    lastSample.file = file;
    setSample({ name: file.name, columns: found, rows });
    form.set({
      format: text.trimStart().startsWith('[') ? 'JSON' : 'CSV',
      lines: found.map((one, key) => blank(key, one)),
      ...(form.values.externalId === '' ? { externalId: guessIdentifier(found, rows) } : {}),
    });
  };
  const change = (key: number, part: Partial<Line>): void =>
    form.set({ lines: lines.map((line) => (line.key === key ? { ...line, ...part } : line)) });
  const add = (): void => form.set({ lines: [...lines, blank(Math.max(-1, ...lines.map(({ key }) => key)) + 1)] });
  return (
    <Stack gap="sm">
      <div className={classes.grid}>
        <FileInput
          label={t.sample}
          description={t.sampleHint}
          placeholder={t.chooseFile}
          size="xs"
          accept=".csv,.json,.txt,text/csv,application/json"
          onChange={(file) => void readSample(file)}
        />
        <Autocomplete label={t.externalId} description=" " required data={columns} {...form.input('externalId')} />
      </div>
      {lines.map((line) => (
        <MappingLine
          key={line.key}
          line={line}
          columns={columns}
          fields={fields}
          sample={(sample?.rows ?? []).flatMap((row) => row[line.source] || []).slice(0, 3)}
          change={(part) => change(line.key, part)}
          remove={() => form.set({ lines: lines.filter((one) => one.key !== line.key) })}
        />
      ))}
      <Group>
        <Button variant="subtle" leftSection={<IconPlus size={14} />} onClick={add}>
          {t.addRow}
        </Button>
      </Group>
    </Stack>
  );
}

interface Sample {
  name: string;
  columns: string[];
  rows: Record<string, string>[];
}

/** One line per column, mapped to the field that its name means, with the transforms that its values need. */
function useGuess(fields: readonly TargetField[]): (sample: Sample) => Line[] {
  const { data: types = [] } = useQuery(deskTypesQuery);
  const titles = new Map(types.flatMap(({ code, titleField }) => (titleField === null ? [] : [[code, titleField]])));
  return ({ columns, rows }) => {
    const targets = guessTargets(columns, fields);
    return columns.map((column, key) => {
      const target = targets.get(column);
      if (target === undefined) return blank(key, column);
      const values = rows.map((row) => row[column] ?? '');
      return { ...blank(key, column), target: target.value, transform: guessTransforms(target, values, titles) };
    });
  };
}
