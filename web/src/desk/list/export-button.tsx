/**
 * Exports a list. For one type and with the export right, the service exports all matching records. Otherwise the loaded rows
 * are exported as shown.
 */
import { ActionIcon, Tooltip } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { download } from '../../api/client.ts';
import type { FieldSchema } from '../../api/types.ts';
import { useHas, useSession } from '../../app/session.ts';
import { namesOf } from '../../fields/labels.ts';
import { useText } from '../../i18n/text.ts';
import { useAction } from '../../ui/action.ts';
import { saveCsv, saveFile } from '../../ui/download.tsx';
import type { DeskType, QueueDefinition } from '../queries.ts';
import type { ListColumn } from './columns.ts';
import { type Row, searchCondition } from './source.ts';
import { texts } from './texts.ts';

/** Maximum number of records in a file. */
const MOST = 10_000;

interface ExportButtonProps {
  title: string;
  definition: QueueDefinition;
  type: DeskType | undefined;
  types: readonly DeskType[];
  rows: readonly Row[];
  columns: readonly ListColumn[];
}

export function ExportButton({ title, definition, type, types, rows, columns }: ExportButtonProps) {
  const t = useText(texts);
  const has = useHas();
  const session = useSession();
  const whole = has('export.execute') && type !== undefined && definition.state !== 'ARCHIVED';
  const run = useAction({
    run: async () => {
      if (!whole || type === undefined) return await saveShown(title, columns, rows, types);
      const filter = searchCondition(definition, undefined, session);
      const q = definition.q?.trim() ?? '';
      const query = { ...(q === '' ? {} : { q }), ...(filter === undefined ? {} : { filter }) };
      const body = {
        typeDefinitionId: type.id,
        format: 'CSV',
        limit: MOST,
        ...(Object.keys(query).length === 0 ? {} : { query }),
      };
      const answer = await download('/exports', { body }, 'POST');
      saveFile(`${type.code}-${new Date().toISOString().slice(0, 10)}.csv`, await answer.blob());
    },
    done: t.exported,
  });
  const name = whole ? t.export : t.exportShown;
  return (
    <Tooltip label={name}>
      <ActionIcon
        variant="default"
        size={30}
        aria-label={name}
        loading={run.isPending}
        disabled={rows.length === 0}
        onClick={() => run.mutate()}
      >
        <IconDownload size={16} />
      </ActionIcon>
    </Tooltip>
  );
}

const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Writes the rows as shown: names of users and options instead of ids and codes. */
async function saveShown(
  title: string,
  columns: readonly ListColumn[],
  rows: readonly Row[],
  types: readonly DeskType[],
): Promise<void> {
  const fields = columns.filter(({ field }) => field !== undefined);
  const values = rows.flatMap((row) => fields.flatMap(({ code }) => [row.values[code]].flat()));
  const ids = values.filter((value): value is string => typeof value === 'string' && ID.test(value));
  const names = await namesOf([...new Set(ids)]);
  saveCsv(
    title,
    columns.map((column) => column.name),
    rows.map((row) => columns.map((column) => textOf(row, column, types, names))),
  );
}

function said(value: unknown, field: FieldSchema, names: ReadonlyMap<string, string>): string | number | null {
  if (value === null || value === undefined) return null;
  if (Array.isArray(value)) return value.map((one) => said(one, field, names)).join(', ');
  if (typeof value === 'object') return JSON.stringify(value);
  if (typeof value === 'number') return value;
  const text = String(value);
  return field.constraints.options?.find(({ code }) => code === text)?.name ?? names.get(text) ?? text;
}

function textOf(
  row: Row,
  { code, field }: ListColumn,
  types: readonly DeskType[],
  names: ReadonlyMap<string, string>,
): unknown {
  if (field !== undefined) return said(row.values[code], field, names);
  switch (code) {
    case 'type':
      return types.find((type) => type.id === row.typeDefinitionId)?.name ?? row.typeCode;
    case 'workflowState':
      return row.workflowState?.name;
    case 'createdBy':
    case 'updatedBy':
      return row[code]?.displayName;
    case 'sla.dueAt':
      return row.sla?.dueAt;
    case 'sla.remaining':
      return isoDuration(row.sla?.remainingMs);
    case 'number':
    case 'title':
    case 'createdAt':
    case 'updatedAt':
      return row[code];
    default:
      return undefined;
  }
}

/** Whole minutes as an ISO 8601 duration, `-PT1H30M` for an exceeded limit. */
function isoDuration(ms: number | null | undefined): string | undefined {
  if (ms === null || ms === undefined) return undefined;
  const minutes = Math.floor(Math.abs(ms) / 60_000);
  return `${ms < 0 ? '-' : ''}PT${Math.floor(minutes / 60)}H${minutes % 60}M`;
}
