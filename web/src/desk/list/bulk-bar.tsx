/** Bulk actions on selected records, and the result of each. */
import { Button, Loader, Text } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { IconArchive, IconArrowRight, IconPencil } from '@tabler/icons-react';
import { lazy, Suspense, useState } from 'react';
import { call } from '../../api/client.ts';
import type { BulkResult, bulk } from '../../api/types.ts';
import { useText } from '../../i18n/text.ts';
import { useAction } from '../../ui/action.ts';
import { confirm } from '../../ui/confirm.tsx';
import type { DeskType } from '../queries.ts';
import type { BulkBody } from './bulk-forms.tsx';
import type { Outcome } from './bulk-results.tsx';
import classes from './list.module.css';
import { namesOf, type Row } from './source.ts';
import { bulkTexts } from './bulk-texts.ts';
import { texts } from './texts.ts';
import { Dialog } from '../../ui/dialog.tsx';

const BulkUpdate = lazy(async () => ({ default: (await import('./bulk-forms.tsx')).BulkUpdate }));
const BulkTransition = lazy(async () => ({ default: (await import('./bulk-forms.tsx')).BulkTransition }));
const Results = lazy(() => import('./bulk-results.tsx'));

export interface BulkBarProps {
  /** The selected records; the bar is shown if there are any. */
  rows: readonly Row[];
  types: readonly DeskType[];
  onSelection: (ids: ReadonlySet<string>) => void;
}

export function BulkBar({ rows, types, onSelection }: BulkBarProps) {
  // The form keeps the rows as they were when it was opened: what others change meanwhile is a conflict, not overwritten.
  const [form, setForm] = useState<{ kind: 'update' | 'transition'; rows: readonly Row[] }>();
  const [outcome, setOutcome] = useState<Outcome>();
  const run = useBulk(form?.rows ?? rows, (next) => {
    setForm(undefined);
    setOutcome((before) => ({ ...next, rows: before?.rows ?? next.rows }));
  });
  const type = typeOfAll(rows, types);
  const close = (): void => {
    setOutcome(undefined);
    // What failed stays selected, so that it can be changed in another way.
    onSelection(new Set(outcome === undefined ? [] : failedOf(outcome.results).map(({ objectId }) => objectId)));
  };
  return (
    <>
      {rows.length > 0 && (
        <BulkActions
          rows={rows}
          types={types}
          type={type}
          archiving={run.isPending && form === undefined}
          run={run.mutate}
          setForm={(kind) => setForm({ kind, rows })}
          onClear={() => onSelection(new Set())}
        />
      )}
      <BulkForms form={form?.kind} type={type} onClose={() => setForm(undefined)} rows={form?.rows ?? rows} run={run} />
      <BulkResults outcome={outcome} current={rows} run={run} onClose={close} />
    </>
  );
}

/** The type of all rows, if they have the same. */
function typeOfAll(rows: readonly Row[], types: readonly DeskType[]): DeskType | undefined {
  const ids = new Set(rows.map((row) => row.typeDefinitionId));
  return ids.size === 1 ? types.find((one) => ids.has(one.id)) : undefined;
}

const failedOf = (results: readonly BulkResult[]): BulkResult[] => results.filter(({ status }) => status === 'FAILED');

interface BulkActionsProps extends Pick<BulkBarProps, 'rows' | 'types'> {
  type: DeskType | undefined;
  archiving: boolean;
  run: (body: BulkBody) => void;
  setForm: (form: 'update' | 'transition') => void;
  onClear: () => void;
}

function BulkActions({ rows, types, type, archiving, run, setForm, onClear }: BulkActionsProps) {
  const t = useText(texts);
  const own = useText(bulkTexts);
  useHotkeys(type?.canUpdate === true ? [['E', () => setForm('update'), { usePhysicalKeys: true }]] : []);
  const mayArchive = rows.every((row) => types.some((one) => one.id === row.typeDefinitionId && one.canArchive));
  return (
    <section className={classes.bulk} aria-label={t.selected(rows.length)}>
      <strong>{t.selected(rows.length)}</strong>
      <Text size="xs" c="dimmed" className="tabular" data-selected>
        {t.names(namesOf(rows), rows.length)}
      </Text>
      {type?.canUpdate === true && (
        <Button variant="default" leftSection={<IconPencil size={14} />} onClick={() => setForm('update')}>
          {own.bulkUpdate}
        </Button>
      )}
      {type?.canTransition === true && type.states.length > 0 && (
        <Button variant="default" leftSection={<IconArrowRight size={14} />} onClick={() => setForm('transition')}>
          {own.bulkTransition}
        </Button>
      )}
      {mayArchive && <ArchiveButton rows={rows} loading={archiving} onRun={run} />}
      {type === undefined && (
        <Text size="xs" c="dimmed">
          {own.bulkOneType}
        </Text>
      )}
      <Button variant="subtle" color="gray" onClick={onClear} ml="auto">
        {t.clearSelection}
      </Button>
    </section>
  );
}

function useBulk(rows: readonly Row[], after: (outcome: Outcome) => void) {
  return useAction({
    run: async (body: BulkBody): Promise<Outcome> => ({
      body,
      rows,
      results: await call<typeof bulk.bulk>('POST', '/bulk', { body }),
    }),
    touches: [['records'], ['record']],
    after,
  });
}

/** `body` for only the failed records, with their current revisions. */
function repeated(body: BulkBody, failed: readonly BulkResult[], current: readonly Row[]): BulkBody {
  const wanted = new Set(failed.map(({ objectId }) => objectId));
  const revisions = new Map(current.map(({ id, revision }) => [id, revision]));
  const items = body.items
    .filter(({ objectId }) => wanted.has(objectId))
    .map((item) => ({ ...item, expectedRevision: revisions.get(item.objectId) ?? item.expectedRevision }));
  return { ...body, items } as BulkBody;
}

interface BulkResultsProps {
  outcome: Outcome | undefined;
  /** The selected records as they are now. */
  current: readonly Row[];
  run: ReturnType<typeof useBulk>;
  onClose: () => void;
}

/** The dialog with the results, which repeats the action for the records that failed. */
function BulkResults({ outcome, current, run, onClose }: BulkResultsProps) {
  const own = useText(bulkTexts);
  return (
    <Dialog opened={outcome !== undefined} onClose={onClose} title={own.bulkResults} size="lg">
      {outcome !== undefined && (
        <Suspense fallback={<Loader size="sm" />}>
          <Results
            {...outcome}
            pending={run.isPending}
            onRepeat={(failed) => run.mutate(repeated(outcome.body, failed, current))}
            onClose={onClose}
          />
        </Suspense>
      )}
    </Dialog>
  );
}

interface ArchiveButtonProps {
  rows: readonly Row[];
  loading: boolean;
  onRun: (body: BulkBody) => void;
}

/** Archives the rows after a confirmation. */
function ArchiveButton({ rows, loading, onRun }: ArchiveButtonProps) {
  const own = useText(bulkTexts);
  const archive = async (): Promise<void> => {
    const { ArchiveQuestion, archiveOf } = await import('./bulk-forms.tsx');
    const title = own.bulkArchiveTitle(rows.length);
    const body = <ArchiveQuestion rows={rows} />;
    if (await confirm({ title, body, yes: own.bulkArchive, danger: true })) onRun(archiveOf(rows));
  };
  return (
    <Button variant="default" leftSection={<IconArchive size={14} />} loading={loading} onClick={() => void archive()}>
      {own.bulkArchive}
    </Button>
  );
}

interface BulkFormsProps {
  form: 'update' | 'transition' | undefined;
  type: DeskType | undefined;
  onClose: () => void;
  rows: readonly Row[];
  run: ReturnType<typeof useBulk>;
}

function BulkForms({ form, type, onClose, rows, run }: BulkFormsProps) {
  const own = useText(bulkTexts);
  return (
    <Dialog
      opened={form !== undefined && type !== undefined}
      onClose={onClose}
      title={form === 'update' ? own.bulkUpdate : own.bulkTransition}
    >
      <Suspense fallback={<Loader size="sm" />}>
        {form === 'update' && type !== undefined && (
          <BulkUpdate rows={rows} type={type} pending={run.isPending} error={run.error} onRun={run.mutate} />
        )}
        {form === 'transition' && (
          <BulkTransition rows={rows} pending={run.isPending} error={run.error} onRun={run.mutate} onCancel={onClose} />
        )}
      </Suspense>
    </Dialog>
  );
}
