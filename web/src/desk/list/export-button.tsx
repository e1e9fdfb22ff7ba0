/** The list as a file: of one type all that fits its conditions, made by the service; of all types what was read of it. */
import { ActionIcon, Tooltip } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { download } from '../../api/client.ts';
import { useHas, useSession } from '../../app/session.ts';
import { useText } from '../../i18n/text.ts';
import { useAction } from '../../ui/action.ts';
import { saveCsv, saveFile } from '../../ui/csv.ts';
import type { DeskType, QueueDefinition } from '../queries.ts';
import type { ListColumn } from './columns.ts';
import { type Row, searchCondition } from './source.ts';
import { texts } from './texts.ts';

/** The most records that one file holds. */
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
  const whole = type !== undefined && definition.state !== 'ARCHIVED';
  const run = useAction({
    run: async () => {
      if (!whole || type === undefined) return saveShown(title, columns, rows, types);
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
  if (!has('export.execute')) return null;
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

function saveShown(
  title: string,
  columns: readonly ListColumn[],
  rows: readonly Row[],
  types: readonly DeskType[],
): void {
  saveCsv(
    title,
    columns.map((column) => column.name),
    rows.map((row) => columns.map((column) => textOf(row, column, types))),
  );
}

function textOf(row: Row, { code, field }: ListColumn, types: readonly DeskType[]): unknown {
  if (field !== undefined) return row.values[code];
  switch (code) {
    case 'type':
      return types.find((type) => type.id === row.typeDefinitionId)?.name ?? row.typeCode;
    case 'workflowState':
      return row.workflowState?.name;
    case 'createdBy':
    case 'updatedBy':
      return row[code]?.displayName;
    case 'number':
    case 'title':
    case 'createdAt':
    case 'updatedAt':
      return row[code];
    default:
      return undefined;
  }
}
