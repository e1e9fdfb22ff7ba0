/** The form of a tile. What it makes is checked by the service when the dashboard is saved. */
import {
  Button,
  Group,
  MultiSelect,
  SegmentedControl,
  Select,
  SimpleGrid,
  Stack,
  Text,
  TextInput,
} from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import {
  GROUPED,
  MEASURES,
  type Measure,
  MOMENTS,
  STEPS,
  TILE_KINDS,
  type TileKind,
  WIDEST,
} from '../../../../src/lib/report-query.ts';
import { type Condition, isComplete } from '../../filters/model.ts';
import { useText } from '../../i18n/text.ts';
import { type FieldChoices, useTypeFields } from './fields.ts';
import { headOf } from './figures.ts';
import { calendarsQuery, type Query, type Tile } from './queries.ts';
import { measureTexts, texts } from './texts.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { useDialogWarning } from '../../ui/form.tsx';

const ConditionEditor = lazy(async () => ({
  default: (await import('../../filters/condition-editor.tsx')).ConditionEditor,
}));

const PERIODS = [7, 30, 90, 180, 365];
const SYSTEM = ['typeCode', 'workflowState', 'workflowCategory', 'createdBy', 'slaPolicy'];

interface TileEditorProps {
  tile: Tile | undefined;
  onSave: (tile: Tile) => void;
  onClose: () => void;
}

export function TileEditor({ tile, onSave, onClose }: TileEditorProps) {
  const t = useText(texts);
  return (
    <Dialog opened={tile !== undefined} onClose={onClose} title={t.editTile} size="xl">
      {tile !== undefined && <TileForm tile={tile} onSave={onSave} onClose={onClose} />}
    </Dialog>
  );
}

function isReady({ kind, title, query }: Tile): boolean {
  const grouped = (query.groupBy ?? []).length > 0;
  const filter = query.filter as Condition | undefined;
  return (
    title.trim() !== '' &&
    (filter === undefined || isComplete(filter)) &&
    query.types.length > 0 &&
    query.measures.length > 0 &&
    (kind === 'table' || (kind === 'number' ? !grouped : grouped))
  );
}

function TileForm({ tile, onSave, onClose }: TileEditorProps & { tile: Tile }) {
  const t = useText(texts);
  const [draft, setDraft] = useState(tile);
  useDialogWarning(JSON.stringify(draft) !== JSON.stringify(tile));
  const fields = useTypeFields(draft.query.types);
  const set = (part: Partial<Tile>): void => setDraft({ ...draft, ...part });
  return (
    <Stack gap="sm">
      <TextInput
        label={t.tileTitle}
        required
        maxLength={200}
        data-autofocus
        value={draft.title}
        onChange={(event) => set({ title: event.currentTarget.value })}
      />
      <QueryInputs draft={draft} onTile={setDraft} fields={fields} />
      <Text size="xs" fw={500}>
        {t.filter}
      </Text>
      <Suspense fallback={null}>
        <ConditionEditor
          value={draft.query.filter as Condition | undefined}
          onChange={(filter) => {
            const { filter: _before, ...rest } = draft.query;
            set({ query: filter === undefined ? rest : { ...rest, filter } });
          }}
          fields={fields.conditionFields}
          variables
        />
      </Suspense>
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onClose}>
          {t.cancel}
        </Button>
        <Button disabled={!isReady(draft)} onClick={() => onSave({ ...draft, title: draft.title.trim() })}>
          {t.apply}
        </Button>
      </Group>
    </Stack>
  );
}

/** Kind and width of the tile. */
function Shape({ draft, onTile }: Pick<QueryInputsProps, 'draft' | 'onTile'>) {
  const t = useText(texts);
  const kinds: Record<TileKind, string> = {
    number: t.number,
    table: t.table,
    bars: t.bars,
    line: t.line,
    area: t.area,
  };
  return (
    <>
      <Select
        label={t.kind}
        allowDeselect={false}
        value={draft.kind}
        data={TILE_KINDS.map((value) => ({ value, label: kinds[value] }))}
        onChange={(value) => {
          const { groupBy: _none, ...rest } = draft.query;
          onTile({ ...draft, kind: value as TileKind, query: value === 'number' ? rest : draft.query });
        }}
      />
      <Stack gap={2}>
        <Text size="xs" fw={500}>
          {t.width}
        </Text>
        <SegmentedControl
          aria-label={t.width}
          value={String(draft.width)}
          data={Array.from({ length: WIDEST }, (_, index) => ({
            value: String(index + 1),
            label: t.widthOf(index + 1),
          }))}
          onChange={(value) => onTile({ ...draft, width: Number(value) })}
        />
      </Stack>
    </>
  );
}

interface QueryInputsProps {
  draft: Tile;
  onTile: (tile: Tile) => void;
  fields: FieldChoices;
}

/** What a tile counts and how: its kind, types, measures, groups and period. */
export function QueryInputs({ draft, onTile, fields }: QueryInputsProps) {
  const t = useText(texts);
  const m = useText(measureTexts);
  const set = (part: Partial<Tile>): void => onTile({ ...draft, ...part });
  const ask = (part: Partial<Query>): void => set({ query: { ...draft.query, ...part } });
  return (
    <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
      <Shape draft={draft} onTile={onTile} />
      <MultiSelect
        label={t.types}
        required
        value={draft.query.types}
        data={fields.types.map(({ code, name }) => ({ value: code, label: name }))}
        onChange={(types) => ask({ types })}
      />
      <MultiSelect
        label={t.measures}
        required
        value={draft.query.measures}
        maxValues={draft.kind === 'number' || draft.kind === 'table' ? 10 : 4}
        data={MEASURES.map((value) => ({ value, label: m[value] }))}
        onChange={(measures) => ask({ measures: measures as Measure[] })}
      />
      {draft.kind !== 'number' && <Groups query={draft.query} kind={draft.kind} fields={fields} onChange={ask} />}
      <PeriodChoice query={draft.query} onChange={(query) => set({ query })} />
      <CalendarChoice query={draft.query} onChange={(query) => set({ query })} />
    </SimpleGrid>
  );
}

interface GroupsProps {
  query: Query;
  kind: TileKind;
  fields: FieldChoices;
  onChange: (part: Partial<Query>) => void;
}

function Groups({ query, kind, fields, onChange }: GroupsProps) {
  const t = useText(texts);
  const [first, second] = query.groupBy ?? [];
  const named = (code: string) => ({ value: code, label: headOf(t, code) ?? fields.nameOf(code) });
  const times = MOMENTS.flatMap((of) => STEPS.map((by) => named(`${of}.${by}`)));
  const others = [
    { group: t.ofRecord, items: SYSTEM.map(named) },
    {
      group: t.ofFields,
      items: fields.fields.filter(({ dataType }) => GROUPED.has(dataType)).map(({ code }) => named(code)),
    },
  ];
  const all = [{ group: t.ofTime, items: times }, ...others];
  const set = (groups: readonly (string | null | undefined)[]): void =>
    onChange({ groupBy: groups.filter((one) => one !== null && one !== undefined) });
  return (
    <>
      <Select
        label={t.groupBy}
        required={kind !== 'table'}
        clearable
        searchable
        value={first ?? null}
        data={kind === 'line' || kind === 'area' ? [{ group: t.ofTime, items: times }] : all}
        onChange={(value) => set([value, second])}
      />
      <Select
        label={t.thenBy}
        clearable
        searchable
        disabled={first === undefined || query.measures.length > 1}
        placeholder={t.noGroup}
        value={second ?? null}
        data={others}
        onChange={(value) => set([first, value])}
      />
    </>
  );
}

function PeriodChoice({ query, onChange }: { query: Query; onChange: (query: Query) => void }) {
  const t = useText(texts);
  const { period, ...rest } = query;
  return (
    <>
      <Select
        label={t.tilePeriod}
        allowDeselect={false}
        value={period === undefined ? '' : String(period.lastDays ?? 30)}
        data={[
          { value: '', label: t.noPeriod },
          ...PERIODS.map((days) => ({ value: String(days), label: t.lastDays(days) })),
        ]}
        onChange={(value) => {
          if (value === '' || value === null) onChange(rest);
          else onChange({ ...rest, period: { of: period?.of ?? 'createdAt', lastDays: Number(value) } });
        }}
      />
      <Select
        label={t.periodOf}
        allowDeselect={false}
        disabled={period === undefined}
        value={period?.of ?? 'createdAt'}
        data={MOMENTS.map((value) => ({ value, label: t[value] }))}
        onChange={(value) =>
          onChange({ ...query, period: { ...period, of: value === 'doneAt' ? 'doneAt' : 'createdAt' } })
        }
      />
    </>
  );
}

/** The calendar whose hours durations count. Shown where a measure is a duration. */
function CalendarChoice({ query, onChange }: { query: Query; onChange: (query: Query) => void }) {
  const t = useText(texts);
  const { data: calendars = [] } = useQuery(calendarsQuery);
  const { calendar, ...rest } = query;
  const chosen = calendars.find(({ id, code }) => id === calendar || code === calendar);
  if (!query.measures.some((measure) => measure.includes('.'))) return null;
  return (
    <Select
      label={t.durations}
      allowDeselect={false}
      value={chosen?.id ?? calendar ?? ''}
      data={[
        { value: '', label: t.elapsed },
        ...calendars.map(({ id, name }) => ({ value: id, label: t.working(name) })),
      ]}
      onChange={(value) => onChange(value === '' || value === null ? rest : { ...rest, calendar: value })}
    />
  );
}
