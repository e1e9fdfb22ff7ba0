/** Form of a new import definition: target, matching of existing records, and mapping. */
import { Autocomplete, Button, FileInput, Group, Select, Stack, TextInput } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { call } from '../../api/client.ts';
import type { imports } from '../../api/types.ts';
import { deskTypesQuery } from '../../desk/queries.ts';
import { useText } from '../../i18n/text.ts';
import { useAction } from '../../ui/action.ts';
import { FaultAlert } from '../../ui/fault.tsx';
import { Page, Panel } from '../../ui/page.tsx';
import { columnsOf, textOf } from './file.ts';
import classes from './imports.module.css';
import { MappingLine, type MappingValues, useTargets } from './mapping-line.tsx';
import { definitionsKey, type Format, type Mode, type NewDefinition, type TargetKind } from './queries.ts';
import { texts } from './texts.ts';

interface Line extends MappingValues {
  key: number;
}

const blank = (key: number, source = ''): Line => ({ key, source, target: null, transform: [], precedence: 100 });

export function DefinitionForm() {
  const t = useText(texts);
  const navigate = useNavigate();
  const { data: types = [] } = useQuery(deskTypesQuery);
  const [code, setCode] = useState('');
  const [name, setName] = useState('');
  const [kind, setKind] = useState<TargetKind>('object');
  const [type, setType] = useState<string | null>(null);
  const [format, setFormat] = useState<Format>('CSV');
  const [mode, setMode] = useState<Mode>('UPSERT');
  const [source, setSource] = useState('');
  const [externalId, setExternalId] = useState('');
  const [columns, setColumns] = useState<string[]>([]);
  const [lines, setLines] = useState<readonly Line[]>([blank(0)]);
  const fields = useTargets(kind, type);
  const go = (splat: string): void => void navigate({ to: '/admin/$', params: { _splat: splat } });
  const used = lines.filter((line) => line.source.trim() !== '' && line.target !== null);
  const save = useAction({
    run: () =>
      call<typeof imports.createDefinition>('POST', '/import-definitions', {
        body: {
          code: code.trim(),
          ...(name.trim() === '' ? {} : { name: name.trim() }),
          targetKind: kind as NewDefinition['targetKind'],
          ...(kind === 'object' && type !== null ? { targetTypeId: type } : {}),
          format: format as NewDefinition['format'],
          mode: mode as NewDefinition['mode'],
          sourceCode: source.trim(),
          resolver: { externalIdField: externalId.trim() },
          mapping: used.map((line) => ({
            source: line.source.trim(),
            target: line.target ?? '',
            ...(line.transform.length === 0 ? {} : { transform: line.transform }),
            precedence: Number(line.precedence),
          })),
        },
      }),
    touches: [definitionsKey],
    done: t.created,
    after: (made) => go(`imports/definitions/${made.id}`),
    quiet: true,
  });
  const readSample = async (file: File | null): Promise<void> => {
    if (file === null) return;
    const text = await textOf(file);
    const found = columnsOf(text);
    setFormat(text.trimStart().startsWith('[') ? 'JSON' : 'CSV');
    setColumns(found);
    // Columns with the name of a field are mapped to it automatically.
    const known = new Map(
      fields.flatMap(({ value, label }) => [
        [value.toLowerCase(), value],
        [label.toLowerCase(), value],
      ]),
    );
    setLines(found.map((one, key) => ({ ...blank(key, one), target: known.get(one.toLowerCase()) ?? null })));
    setExternalId((before) => (before === '' ? (found[0] ?? '') : before));
  };
  const change = (key: number, part: Partial<Line>): void =>
    setLines((before) => before.map((line) => (line.key === key ? { ...line, ...part } : line)));
  const ready =
    code.trim() !== '' &&
    source.trim() !== '' &&
    externalId.trim() !== '' &&
    used.length > 0 &&
    (kind !== 'object' || type !== null);
  return (
    <Page title={t.create} back={{ label: t.back, href: '/admin/imports' }}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (ready) save.mutate();
        }}
      >
        <Stack gap="md">
          <FaultAlert error={save.error} />
          <Panel>
            <div className={classes.grid}>
              <TextInput
                label={t.code}
                description={t.codeHint}
                required
                value={code}
                onChange={(event) => setCode(event.currentTarget.value)}
              />
              <TextInput
                label={t.name}
                description=" "
                value={name}
                onChange={(event) => setName(event.currentTarget.value)}
              />
              <TextInput
                label={t.source}
                description={t.sourceHint}
                required
                value={source}
                onChange={(event) => setSource(event.currentTarget.value)}
              />
              <Select
                label={t.target}
                allowDeselect={false}
                data={(['object', 'user', 'group', 'organization'] as const).map((one) => ({
                  value: one,
                  label: t[one],
                }))}
                value={kind}
                onChange={(next) => setKind((next ?? 'object') as TargetKind)}
              />
              {kind === 'object' && (
                <Select
                  label={t.type}
                  required
                  searchable
                  data={types.map((one) => ({ value: one.id, label: one.name }))}
                  value={type}
                  onChange={setType}
                />
              )}
              <Select
                label={t.mode}
                allowDeselect={false}
                data={(['UPSERT', 'CREATE_ONLY', 'UPDATE_ONLY'] as const).map((one) => ({ value: one, label: t[one] }))}
                value={mode}
                onChange={(next) => setMode((next ?? 'UPSERT') as Mode)}
              />
              <Select
                label={t.format}
                allowDeselect={false}
                data={['CSV', 'JSON']}
                value={format}
                onChange={(next) => setFormat((next ?? 'CSV') as Format)}
              />
            </div>
          </Panel>
          <Panel title={t.mapping}>
            <Stack gap="sm">
              <div className={classes.grid}>
                <FileInput
                  label={t.sample}
                  description={t.sampleHint}
                  size="xs"
                  accept=".csv,.json,.txt,text/csv,application/json"
                  onChange={(file) => void readSample(file)}
                />
                <Autocomplete
                  label={t.externalId}
                  description=" "
                  required
                  data={columns}
                  value={externalId}
                  onChange={setExternalId}
                />
              </div>
              {lines.map((line) => (
                <MappingLine
                  key={line.key}
                  line={line}
                  columns={columns}
                  fields={fields}
                  change={(part) => change(line.key, part)}
                  remove={() => setLines((before) => before.filter((one) => one.key !== line.key))}
                />
              ))}
              <Group>
                <Button
                  variant="subtle"
                  leftSection={<IconPlus size={14} />}
                  onClick={() =>
                    setLines((before) => [...before, blank(Math.max(-1, ...before.map(({ key }) => key)) + 1)])
                  }
                >
                  {t.addRow}
                </Button>
              </Group>
            </Stack>
          </Panel>
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={() => go('imports')}>
              {t.cancel}
            </Button>
            <Button type="submit" loading={save.isPending} disabled={!ready}>
              {t.save}
            </Button>
          </Group>
        </Stack>
      </form>
    </Page>
  );
}
