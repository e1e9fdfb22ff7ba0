/** Integrity check of the facts of reports. `docket reindex` computes them again. */
import sql from 'sql-template-tag';
import { isRebuilding } from '../../platform/jobs/rebuilds.ts';
import { type Check, NIL, note, rowCheck, type Violations } from '../../platform/audit/checks.ts';
import { typeFacts } from './requesters.ts';
import { countedDays, differingCells } from './store-cells.ts';
import { differingFacts, FACTS_REBUILD } from './store.ts';

const AT_ONCE = 500;
/** Cells of a month are compared at once. */
const MONTH_MS = 30 * 86_400_000;

/** While a rebuild runs, facts of older records may be missing, so nothing is compared. */
export const reportChecks: readonly Check[] = [
  {
    name: 'I11 facts of reports equal what history says',
    find: async ({ db, config }) => {
      const found: Violations = { total: 0, named: [] };
      const [running] = await db.query(sql`SELECT WHERE ${isRebuilding(FACTS_REBUILD)}`);
      if (running !== undefined) return found;
      const types = typeFacts({ config });
      for (let after = NIL; ; ) {
        const rows = await db.query<{ id: string; differs: string[] }>(differingFacts(after, AT_ONCE, types));
        for (const { id, differs } of rows) if (differs.length > 0) note(found, `record ${id} (${differs.join(', ')})`);
        after = rows.at(-1)?.id ?? after;
        if (rows.length < AT_ONCE) return found;
      }
    },
  },
  {
    name: 'I11 counts of reports equal their records',
    find: async ({ db }) => {
      const found: Violations = { total: 0, named: [] };
      const days = await countedDays(db);
      if (days === undefined) return found;
      for (let from = days.from; from < days.until; from += MONTH_MS) {
        const [begin, end] = [from, from + MONTH_MS].map((at) => new Date(at).toISOString()) as [string, string];
        const rows = await db.query<{ what: string }>(differingCells(days.place, begin, end), { freshPlan: true });
        for (const { what } of rows) note(found, what);
      }
      return found;
    },
  },
  rowCheck(
    'I11 no facts of a record that is not there',
    sql`SELECT 'record ' || f.id AS what FROM report_facts f LEFT JOIN objects o ON o.id = f.id WHERE o.id IS NULL`,
  ),
];
