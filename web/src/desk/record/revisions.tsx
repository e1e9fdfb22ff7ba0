/** An earlier version of a record beside the current one: the differences, and chosen values of them back into the form. */
import { Button, Checkbox, Group, Loader, Slider, Stack, Table, Text } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { type ReactNode, useMemo, useState } from 'react';
import type { DocketRecord, FieldSchema } from '../../api/types.ts';
import { imageHandles, withKnownImages } from '../../fields/rich-text-images.ts';
import { FieldValue } from '../../fields/value.tsx';
import { useText } from '../../i18n/text.ts';
import { FaultAlert } from '../../ui/fault.tsx';
import { Time } from '../../ui/time.tsx';
import { recordAsOfQuery } from '../queries.ts';
import type { RecordDraft } from './draft.ts';
import { eventTexts, revisionTexts } from './event-texts.ts';

export interface RevisionsProps {
  record: DocketRecord;
  fields: readonly FieldSchema[];
  draft: RecordDraft;
  /** True if the user may change this record. */
  mayUpdate: boolean;
}

/** A button that opens the comparison. A record that never changed has nothing to compare. */
export function Revisions(props: RevisionsProps) {
  const t = useText(revisionTexts);
  const [open, setOpen] = useState(false);
  if (props.record.revision === 1) return null;
  return (
    <Stack gap="sm" mb="md" component="section" aria-label={t.compareVersions}>
      <Group>
        <Button variant="default" size="xs" aria-expanded={open} onClick={() => setOpen(!open)}>
          {t.compareVersions}
        </Button>
      </Group>
      {open && <Comparison {...props} />}
    </Stack>
  );
}

function Comparison(props: RevisionsProps) {
  const t = useText(revisionTexts);
  const words = useText(eventTexts);
  const { record } = props;
  const [revision, setRevision] = useState(record.revision - 1);
  /** The position of the slider while it is being moved. */
  const [moved, setMoved] = useState(revision);
  const query = recordAsOfQuery(record.id, revision);
  const { data, error, refetch } = useQuery({ ...query, placeholderData: keepPreviousData });
  return (
    <Stack gap="sm">
      <Slider
        min={1}
        max={record.revision}
        value={moved}
        onChange={setMoved}
        onChangeEnd={setRevision}
        label={t.versionNumber}
        thumbLabel={t.version}
        thumbProps={{ 'aria-valuetext': t.versionNumber(moved) }}
      />
      {error !== null ? (
        <FaultAlert error={error} retry={() => void refetch()} />
      ) : data === undefined ? (
        <Loader size="sm" />
      ) : (
        <>
          <Text size="sm" c="dimmed">
            {t.versionOf(data.revision, record.revision)} · <Time at={data.updatedAt} /> ·{' '}
            {data.updatedBy?.displayName ?? words.system}
          </Text>
          <Differences key={data.revision} {...props} past={data} />
        </>
      )}
    </Stack>
  );
}

interface Difference {
  code: string;
  name: string;
  before: ReactNode;
  now: ReactNode;
  writable: boolean;
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one ?? null) === JSON.stringify(other ?? null);
}

function useDifferences({ past, record, fields, mayUpdate }: DifferencesProps): Difference[] {
  const words = useText(eventTexts);
  return useMemo(() => {
    const shown = (field: FieldSchema, value: unknown) => (
      <FieldValue field={field} value={value} recordId={record.id} />
    );
    const found: Difference[] = fields
      .filter(({ code }) => !isSame(past.values[code], record.values[code]))
      .map((field) => ({
        code: field.code,
        name: field.name,
        before: shown(field, past.values[field.code]),
        now: shown(field, record.values[field.code]),
        writable: mayUpdate && !field.readOnly,
      }));
    const whole = (code: string, name: string, before: ReactNode, now: ReactNode): void => {
      if (!isSame(before, now)) found.push({ code, name, before, now, writable: false });
    };
    const stored = ({ state }: DocketRecord): string =>
      state === 'ARCHIVED' ? words.archivedState : words.activeState;
    whole('workflowState', words.workflowState, past.workflowState?.name, record.workflowState?.name);
    whole('state', words.state, stored(past), stored(record));
    return found;
  }, [past, record, fields, mayUpdate, words]);
}

interface DifferencesProps extends RevisionsProps {
  past: DocketRecord;
}

/** Fills the values of then into the form. @returns the number of images that were left out */
function bringBackInto({ draft, past, record, fields }: DifferencesProps, chosen: ReadonlySet<string>): number {
  const rich = new Set(fields.filter(({ dataType }) => dataType === 'rich-text').map(({ code }) => code));
  const known = imageHandles([...rich].map((code) => record.values[code]));
  let missing = 0;
  for (const code of chosen) {
    const value = past.values[code] ?? null;
    const { document, removed } = rich.has(code) ? withKnownImages(value, known) : { document: value, removed: 0 };
    draft.set(code, document);
    missing += removed;
  }
  return missing;
}

function Differences(props: DifferencesProps) {
  const t = useText(revisionTexts);
  const { past } = props;
  const differences = useDifferences(props);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  /** Images that were left out of the values in the form; undefined while there are none in it. */
  const [leftOut, setLeftOut] = useState<number>();
  if (differences.length === 0) return <Text size="sm">{t.noDifferences}</Text>;
  const choose = (code: string, isChosen: boolean): void => {
    setLeftOut(undefined);
    setChosen(new Set(isChosen ? [...chosen, code] : [...chosen].filter((one) => one !== code)));
  };
  const bringBack = (): void => {
    const missing = bringBackInto(props, chosen);
    setChosen(new Set());
    setLeftOut(missing);
  };
  return (
    <>
      <Table.ScrollContainer minWidth={330}>
        <Table verticalSpacing="xs" fz="sm">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t.changedField}</Table.Th>
              <Table.Th>{t.versionNumber(past.revision)}</Table.Th>
              <Table.Th>{t.nowValue}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {differences.map((one) => (
              <Row key={one.code} difference={one} isChosen={chosen.has(one.code)} onChoose={choose} />
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      {differences.some(({ writable }) => writable) && (
        <Group gap="sm">
          <Button size="xs" disabled={chosen.size === 0} onClick={bringBack}>
            {t.bringBack}
          </Button>
          <Text size="sm" role="status">
            {leftOut === undefined ? '' : t.broughtBack}{' '}
            {leftOut !== undefined && leftOut > 0 && t.imagesLeftOut(leftOut)}
          </Text>
        </Group>
      )}
    </>
  );
}

interface RowProps {
  difference: Difference;
  isChosen: boolean;
  onChoose: (code: string, isChosen: boolean) => void;
}

function Row({ difference: { code, name, before, now, writable }, isChosen, onChoose }: RowProps) {
  return (
    <Table.Tr data-difference={code}>
      <Table.Td>
        {writable ? (
          <Checkbox
            size="xs"
            label={name}
            checked={isChosen}
            onChange={(event) => onChoose(code, event.currentTarget.checked)}
          />
        ) : (
          name
        )}
      </Table.Td>
      <Table.Td>{before ?? '—'}</Table.Td>
      <Table.Td>{now ?? '—'}</Table.Td>
    </Table.Tr>
  );
}
