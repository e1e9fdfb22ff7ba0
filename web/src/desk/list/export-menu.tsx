/**
 * The formats in which a list is exported. With the export right, the service writes all records of the list; otherwise the
 * loaded rows are written as shown.
 */
import { Menu } from '@mantine/core';
import { useHas, useSession } from '../../app/session.ts';
import { useText } from '../../i18n/text.ts';
import { useAction } from '../../ui/action.ts';
import type { DropdownProps } from '../../ui/on-first-use.tsx';
import type { DeskType, QueueDefinition } from '../queries.ts';
import type { ListColumn } from './columns.ts';
import { saveList, saveShown } from './export-file.ts';
import { type Row, selectionOf } from './source.ts';
import { texts } from './texts.ts';

export interface ExportMenuProps {
  title: string;
  definition: QueueDefinition;
  type: DeskType | undefined;
  types: readonly DeskType[];
  rows: readonly Row[];
  /** The shown columns. */
  columns: readonly ListColumn[];
}

export function ExportMenu({ opened, onOpened, children, ...list }: ExportMenuProps & DropdownProps) {
  const t = useText(texts);
  const whole = useHas()('export.execute');
  const session = useSession();
  const { title, definition, type, types, rows, columns } = list;
  const run = useAction({
    run: async (format: 'CSV' | 'XLSX') => {
      if (whole) await saveList({ format, title, columns, selection: selectionOf(definition, type, session), t });
      else await saveShown(title, columns, rows, types);
    },
    done: t.exported,
  });
  return (
    <Menu opened={opened} onChange={onOpened} position="bottom-end">
      <Menu.Target>{children}</Menu.Target>
      <Menu.Dropdown>
        {whole && <Menu.Item onClick={() => run.mutate('XLSX')}>{t.exportXlsx}</Menu.Item>}
        <Menu.Item onClick={() => run.mutate('CSV')}>{whole ? t.exportCsv : t.exportShown}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
