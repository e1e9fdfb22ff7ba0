/** The page of one record: header, fields, comments, attachments, relations and history. */
import { Alert, Button, Group, Loader, Tabs } from '@mantine/core';
import { useDocumentTitle, useHotkeys } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useBlocker, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { lazy, Suspense, useMemo } from 'react';
import { ApiFault } from '../../api/client.ts';
import type { DocketRecord, FieldSchema } from '../../api/types.ts';
import { useText } from '../../i18n/text.ts';
import { confirm } from '../../ui/confirm.tsx';
import { Empty } from '../../ui/empty.tsx';
import { FaultAlert } from '../../ui/fault.tsx';
import { Time } from '../../ui/time.tsx';
import { deskTypesQuery, permissionsQuery, recordQuery, recordSchemaQuery } from '../queries.ts';
import { texts } from '../texts.ts';
import { Comments } from './comments.tsx';
import { ConflictDialog } from './conflict-dialog.tsx';
import { useRecordDraft } from './draft.ts';
import { FieldLine } from './field-line.tsx';
import { DropZone, useUpload } from './files-upload.tsx';
import { Files } from './files.tsx';
import { Opening } from './opening.tsx';
import classes from './record.module.css';
import { RecordHead } from './record-head.tsx';
import { SaveBar } from './save-bar.tsx';
import { recordLayout } from './schema.ts';
import { SlaPanel } from './sla.tsx';

const Relations = lazy(() => import('./relations.tsx'));
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
  const navigate = useNavigate();
  const { tab } = useSearch({ from: '/inside/records/$recordId' });
  const { data: types = [] } = useQuery(deskTypesQuery);
  const type = types.find((one) => one.id === record.typeDefinitionId);
  const layout = useMemo(() => recordLayout(fields, type?.titleField), [fields, type?.titleField]);
  const draft = useRecordDraft(record, fields, actions.includes('history'));
  const upload = useUpload(record.id);
  const active = record.state === 'ACTIVE';
  const can = (action: string): boolean => active && actions.includes(action);
  const mayUpdate = can('update');
  useDocumentTitle(`${[record.number, record.title].filter(Boolean).join(' · ') || t.hiddenTitle} · Docket`);
  useHotkeys([['mod+S', draft.save]], []);
  useBlocker({
    shouldBlockFn: async () =>
      draft.count > 0 && !(await confirm({ title: t.leaveTitle, body: t.leaveBody, yes: t.leave, danger: true })),
    enableBeforeUnload: () => draft.count > 0,
    disabled: draft.count === 0,
  });
  const line = (field: FieldSchema) => (
    <FieldLine key={field.code} field={field} draft={draft} recordId={record.id} mayUpdate={mayUpdate} />
  );
  const shownTabs = TABS.filter((one) => one !== 'history' || actions.includes('history'));
  const open = shownTabs.find((one) => one === tab) ?? 'activity';
  return (
    <DropZone enabled={can('attachment.add')} onFiles={upload.add} className={classes.page}>
      <RecordHead record={record} type={type} titleField={layout.title} draft={draft} can={can} actions={actions} />
      <div className={classes.columns}>
        <div className={classes.main}>
          <div className={classes.inner}>
            {!active && (
              <Alert color="gray" mb="sm" title={t.archived}>
                {t.archivedHint}
              </Alert>
            )}
            {draft.overtaken && (
              <Alert color="yellow" mb="sm" role="status">
                <Group justify="space-between" gap="xs">
                  {record.updatedBy === null
                    ? t.changedMeanwhileSomebody
                    : t.changedMeanwhile(record.updatedBy.displayName)}
                  <Button size="compact-xs" variant="default" onClick={draft.showChanges}>
                    {t.showChanges}
                  </Button>
                </Group>
              </Alert>
            )}
            {layout.long.map(line)}
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
                <Comments recordId={record.id} can={can} />
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
                  <History recordId={record.id} fields={fields} states={type?.states ?? []} />
                </Suspense>
              </Tabs.Panel>
            </Tabs>
          </div>
        </div>
        <aside className={classes.side} aria-label={t.details}>
          <SlaPanel recordId={record.id} />
          <h2 className={classes.sideHeading}>{t.details}</h2>
          {layout.short.map(line)}
          <Stamp name={t.createdAt} at={record.createdAt} who={record.createdBy?.displayName} />
          <Stamp name={t.updatedAt} at={record.updatedAt} who={record.updatedBy?.displayName} />
        </aside>
      </div>
      <SaveBar draft={draft} />
      <ConflictDialog draft={draft} fields={fields} />
    </DropZone>
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
