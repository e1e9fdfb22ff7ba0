/** The page of one record: header, fields, comments, attachments, relations and history. */
import { Alert, Button, Group, Loader, Tabs } from '@mantine/core';
import { useDocumentTitle, useHotkeys } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { lazy, type ReactNode, Suspense, useMemo, useState } from 'react';
import { ApiFault } from '../../api/client.ts';
import type { DocketRecord, FieldSchema } from '../../api/types.ts';
import { useText } from '../../i18n/text.ts';
import { Empty } from '../../ui/empty.tsx';
import { FaultAlert, useFaultText } from '../../ui/fault.tsx';
import { useUnsavedWarning } from '../../ui/form.tsx';
import { Time } from '../../ui/time.tsx';
import { isEmpty } from '../../fields/check.ts';
import { type DeskType, deskTypesQuery, permissionsQuery, recordQuery, recordSchemaQuery } from '../queries.ts';
import { texts } from '../texts.ts';
import { assigneeField } from './assign-to-me.tsx';
import { Comments } from './comments.tsx';
import { ConflictDialog } from './conflict-dialog.tsx';
import { type RecordDraft, useRecordDraft } from './draft.ts';
import { EmptyFields, FieldLine } from './field-line.tsx';
import { DropZone, useUpload } from './files-upload.tsx';
import { Files, RecordFiles } from './files.tsx';
import { Opening } from './opening.tsx';
import { RecordHead } from './record-head.tsx';
import classes from './record.module.css';
import { FieldGroups } from './field-groups.tsx';
import { type Layout, recordLayout } from './schema.ts';
import { SlaPanel } from './sla.tsx';
import { isActive } from '../../../../src/contract/state.ts';

const Relations = lazy(() => import('./relations.tsx'));
const RequesterCard = lazy(() => import('./requester-card.tsx'));
const History = lazy(() => import('./history.tsx'));

/** Refresh interval of a visible record in milliseconds. */
const REFRESH = 10_000;
const TABS = ['activity', 'files', 'relations', 'history'] as const;

export function RecordPage() {
  const t = useText(texts);
  const { recordId } = useParams({ from: '/inside/records/$recordId' });
  const record = useQuery({ ...recordQuery(recordId), refetchInterval: REFRESH });
  const schema = useQuery(recordSchemaQuery(recordId));
  const permissions = useQuery(permissionsQuery(recordId));
  const { data: types = [] } = useQuery(deskTypesQuery);
  const error = record.error ?? schema.error ?? permissions.error;
  if (record.data !== undefined && schema.data !== undefined && permissions.data !== undefined) {
    return (
      <Loaded
        key={recordId}
        record={record.data}
        fields={schema.data.fields as FieldSchema[]}
        actions={permissions.data.actions}
      />
    );
  }
  if (error instanceof ApiFault && error.status === 404) return <Empty>{t.notFound}</Empty>;
  if (error !== null) return <FaultAlert error={error} retry={() => void record.refetch()} />;
  return <Opening recordId={recordId} types={types} />;
}

interface LoadedProps {
  record: DocketRecord;
  fields: readonly FieldSchema[];
  actions: readonly string[];
}

function Loaded({ record, fields, actions }: LoadedProps) {
  const t = useText(texts);
  const { data: types = [] } = useQuery(deskTypesQuery);
  const type = types.find((one) => one.id === record.typeDefinitionId);
  const layout = useMemo(() => recordLayout(fields, type), [fields, type]);
  const draft = useRecordDraft(record, fields, actions.includes('history'));
  const upload = useUpload(record.id);
  const active = isActive(record);
  const can = (action: string): boolean => active && actions.includes(action);
  const mayUpdate = can('update');
  useDocumentTitle(`${[record.number, record.title].filter(Boolean).join(' · ') || t.hiddenTitle} · Docket`);
  useHotkeys([['mod+S', draft.save]], []);
  useUnsavedWarning(draft.count > 0);
  const line = (field: FieldSchema, asked = false) => (
    <FieldLine key={field.code} field={field} draft={draft} recordId={record.id} mayUpdate={mayUpdate} asked={asked} />
  );
  // Empty long fields would take the place of the conversation: they are shown when the user asks for them.
  const [asked, setAsked] = useState<ReadonlySet<string>>(new Set());
  const isShown = ({ code }: FieldSchema): boolean => asked.has(code) || !isEmpty(draft.value(code)) || draft.has(code);
  return (
    <DropZone enabled={can('attachment.add')} onFiles={upload.add} className={classes.page}>
      <RecordHead
        record={record}
        type={type}
        titleField={layout.title}
        draft={draft}
        assign={assigneeField(fields) !== undefined}
        can={can}
        actions={actions}
      />
      <div className={classes.columns}>
        <div className={classes.main}>
          <div className={classes.inner}>
            {!active && (
              <Alert color="gray" mb="sm" title={t.archived}>
                {t.archivedHint}
              </Alert>
            )}
            {draft.overtaken && <ChangedMeanwhile record={record} draft={draft} />}
            {layout.long.filter(isShown).map((field) => line(field, asked.has(field.code)))}
            <RecordTabs {...{ actions, record, can, upload, fields, type, draft }} />
          </div>
        </div>
        <Details record={record} layout={layout} line={line}>
          {mayUpdate && (
            <EmptyFields
              fields={layout.long.filter((field) => !isShown(field) && !field.readOnly)}
              onAsk={(code) => setAsked(new Set([...asked, code]))}
            />
          )}
        </Details>
      </div>
      <SaveBar draft={draft} />
      <ConflictDialog draft={draft} fields={fields} />
    </DropZone>
  );
}

interface RecordTabsProps {
  actions: readonly string[];
  record: DocketRecord;
  can: (action: string) => boolean;
  upload: ReturnType<typeof useUpload>;
  fields: readonly FieldSchema[];
  type: DeskType | undefined;
  draft: RecordDraft;
}

function RecordTabs({ actions, record, can, upload, fields, type, draft }: RecordTabsProps) {
  const navigate = useNavigate();
  const t = useText(texts);
  const { tab } = useSearch({ from: '/inside/records/$recordId' });
  const shownTabs = TABS.filter((one) => one !== 'history' || actions.includes('history'));
  const open = shownTabs.find((one) => one === tab) ?? 'activity';
  return (
    <>
      {open !== 'files' && <RecordFiles recordId={record.id} />}
      <Tabs
        className={classes.tabs}
        value={open}
        onChange={(value) =>
          void navigate({
            to: '/records/$recordId',
            params: { recordId: record.id },
            search: value === null || value === 'activity' ? {} : { tab: value },
            replace: true,
          })
        }
      >
        <Tabs.List mb="sm">
          {shownTabs.map((one) => (
            <Tabs.Tab key={one} value={one}>
              {t[one]}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value="activity">
          <Comments record={record} can={can} fields={fields} />
        </Tabs.Panel>
        <Tabs.Panel value="files">
          <Files recordId={record.id} can={can} upload={upload} />
        </Tabs.Panel>
        <Tabs.Panel value="relations">
          <Suspense fallback={<Loader size="sm" />}>
            <Relations record={record} can={can} />
          </Suspense>
        </Tabs.Panel>
        <Tabs.Panel value="history">
          <Suspense fallback={<Loader size="sm" />}>
            <History
              record={record}
              fields={fields}
              states={type?.states ?? []}
              draft={draft}
              mayUpdate={can('update')}
            />
          </Suspense>
        </Tabs.Panel>
      </Tabs>
    </>
  );
}

interface ChangedMeanwhileProps {
  record: DocketRecord;
  draft: RecordDraft;
}

function ChangedMeanwhile({ record, draft }: ChangedMeanwhileProps) {
  const t = useText(texts);
  return (
    <Alert color="yellow" mb="sm" role="status">
      <Group justify="space-between" gap="xs">
        {record.updatedBy === null ? t.changedMeanwhileSomebody : t.changedMeanwhile(record.updatedBy.displayName)}
        <Button size="compact-xs" variant="default" onClick={draft.showChanges}>
          {t.showChanges}
        </Button>
      </Group>
    </Alert>
  );
}

interface DetailsProps {
  record: DocketRecord;
  layout: Layout;
  line: (field: FieldSchema) => ReactNode;
  children: ReactNode;
}

/** SLA, the requester, the short fields, and who created and changed the record. */
function Details({ record, layout, line, children }: DetailsProps) {
  const t = useText(texts);
  const { requester } = record.values;
  return (
    <aside className={classes.side} aria-label={t.details}>
      <SlaPanel recordId={record.id} />
      {typeof requester === 'string' && (
        <Suspense fallback={null}>
          <RequesterCard record={record} userId={requester} />
        </Suspense>
      )}
      <h2 className={classes.sideHeading}>{t.details}</h2>
      <FieldGroups groups={layout.groups} line={(field) => line(field)} />
      {children}
      <div className={classes.stamps}>
        <Stamp name={t.createdAt} at={record.createdAt} who={record.createdBy?.displayName} />
        <Stamp name={t.updatedAt} at={record.updatedAt} who={record.updatedBy?.displayName} />
      </div>
    </aside>
  );
}

function Stamp({ name, at, who }: { name: string; at: string; who: string | undefined }) {
  return (
    <div className={classes.line}>
      <div className={classes.name}>{name}</div>
      <div className={classes.value}>
        <Time at={at} /> {who}
      </div>
    </div>
  );
}

export function SaveBar({ draft }: { draft: RecordDraft }) {
  const t = useText(texts);
  const say = useFaultText();
  if (draft.count === 0 || draft.picking) return null;
  return (
    <section className={classes.bar} aria-label={t.changes(draft.count)}>
      <span className={classes.barText} role={draft.error === undefined || draft.error === null ? undefined : 'alert'}>
        {draft.error === undefined || draft.error === null ? t.changes(draft.count) : say(draft.error)}
      </span>
      <Button variant="default" onClick={draft.drop} disabled={draft.saving}>
        {t.discard}
      </Button>
      <Button onClick={draft.save} loading={draft.saving} disabled={draft.problems.size > 0} title="Ctrl+S">
        {t.save}
      </Button>
    </section>
  );
}
