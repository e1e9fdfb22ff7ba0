/**
 * Exports a list. For one type and with the export right, the service exports all matching records. Otherwise the loaded rows
 * are exported as shown.
 */
import { ActionIcon } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { useHas, useSession } from '../../app/session.ts';
import { useText } from '../../i18n/text.ts';
import { useAction } from '../../ui/action.ts';
import type { DeskType, QueueDefinition } from '../queries.ts';
import type { ListColumn } from './columns.ts';
import { type Row, searchCondition } from './source.ts';
import { texts } from './texts.ts';

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
      const file = await import('./export-file.ts');
      if (whole && type !== undefined)
        await file.saveAll(type, searchCondition(definition, undefined, session), definition.q);
      else await file.saveShown(title, columns, rows, types);
    },
    done: t.exported,
  });
  const name = whole ? t.export : t.exportShown;
  return (
    <ActionIcon
      variant="default"
      size={30}
      aria-label={name}
      title={name}
      loading={run.isPending}
      disabled={rows.length === 0}
      onClick={() => run.mutate()}
    >
      <IconDownload size={16} />
    </ActionIcon>
  );
}
