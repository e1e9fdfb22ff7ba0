/** Shown while a record loads: the data known from a list at once, the rest later. */
import { Skeleton } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { type Row, rowsOf, type RowPages } from '../list/source.ts';
import type { DeskType } from '../queries.ts';
import { TypeMark } from '../../ui/type-mark.tsx';
import classes from './record.module.css';
import { StateBadge } from './state-badge.tsx';

/** The row of the record in any cached list. */
function useKnownRow(recordId: string): Row | undefined {
  const client = useQueryClient();
  for (const [, data] of client.getQueriesData<RowPages>({ queryKey: ['records', 'list'] })) {
    const row = rowsOf(data).find((one) => one.id === recordId);
    if (row !== undefined) return row;
  }
  return undefined;
}

export function Opening({ recordId, types }: { recordId: string; types: readonly DeskType[] }) {
  const row = useKnownRow(recordId);
  const type = types.find((one) => one.id === row?.typeDefinitionId);
  return (
    <div className={classes.page} aria-busy="true">
      <header className={classes.head}>
        <div className={classes.crumbs}>
          {type !== undefined && (
            <>
              <TypeMark code={type.code} name={type.name} />
              <span>{type.name}</span>
            </>
          )}
          {typeof row?.number === 'string' && <span className="tabular">{row.number}</span>}
          {row !== undefined && row.workflowState !== null && <StateBadge state={row.workflowState} />}
        </div>
        <div className={classes.titleRow}>
          <div className={classes.title}>
            {typeof row?.title !== 'string' ? <Skeleton height={22} width="18rem" /> : <h1>{row.title}</h1>}
          </div>
        </div>
      </header>
      <div className={classes.columns}>
        <div className={classes.main}>
          <div className={classes.inner}>
            {['90%', '75%', '82%'].map((width) => (
              <Skeleton key={width} height={12} width={width} mt="sm" />
            ))}
          </div>
        </div>
        <aside className={classes.side}>
          {[1, 2, 3, 4, 5].map((line) => (
            <Skeleton key={line} height={12} mt="sm" />
          ))}
        </aside>
      </div>
    </div>
  );
}
