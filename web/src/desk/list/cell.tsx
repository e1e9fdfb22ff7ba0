import { FieldValue } from '../../fields/value.tsx';
import { useText } from '../../i18n/text.ts';
import { PersonName } from '../../ui/person.tsx';
import { Time } from '../../ui/time.tsx';
import type { DeskType } from '../queries.ts';
import { StateBadge } from '../record/state-badge.tsx';
import { texts as deskTexts } from '../texts.ts';
import type { ListColumn } from './columns.ts';
import type { Row } from './source.ts';

/** A table cell of a record. */
export function Cell({ row, column, types }: { row: Row; column: ListColumn; types: readonly DeskType[] }) {
  const t = useText(deskTexts);
  if (column.field !== undefined) return <FieldValue field={column.field} value={row.values[column.code]} compact />;
  switch (column.code) {
    case 'number':
      return <span className="tabular">{row.number}</span>;
    case 'title':
      return row.title ?? row.number ?? t.hiddenTitle;
    case 'type':
      return types.find((type) => type.id === row.typeDefinitionId)?.name ?? row.typeCode;
    case 'workflowState':
      return row.workflowState === null ? null : <StateBadge state={row.workflowState} />;
    case 'createdAt':
      return row.createdAt === undefined ? null : <Time at={row.createdAt} />;
    case 'updatedAt':
      return <Time at={row.updatedAt} />;
    case 'createdBy':
    case 'updatedBy': {
      const person = row[column.code];
      return person === null || person === undefined ? null : <PersonName name={person.displayName} />;
    }
    default:
      return null;
  }
}
