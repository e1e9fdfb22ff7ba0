/** Relations of a record: a list grouped by relation name, or a graph. */
import { ActionIcon, Anchor, Button, Group, Loader, SegmentedControl, Select, Stack } from '@mantine/core';
import { IconLink, IconPlus, IconX } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { call } from '../../api/client.ts';
import type { DocketRecord, Relation, relations } from '../../api/types.ts';
import { RecordPicker } from '../../fields/pickers.tsx';
import { useText } from '../../i18n/text.ts';
import { useAction } from '../../ui/action.ts';
import { confirm } from '../../ui/confirm.tsx';
import { Empty } from '../../ui/empty.tsx';
import { FaultAlert } from '../../ui/fault.tsx';
import { recordKey, relatedName, relationsQuery } from '../queries.ts';
import { texts } from '../texts.ts';
import classes from './lists.module.css';
import { isArchived } from '../../../../src/contract/state.ts';
import { Dialog } from '../../ui/dialog.tsx';

const RelationGraph = lazy(() => import('./relation-graph.tsx'));

interface RelationsProps {
  record: DocketRecord;
  can: (action: string) => boolean;
}

export default function Relations({ record, can }: RelationsProps) {
  const t = useText(texts);
  const [view, setView] = useState('list');
  const [adding, setAdding] = useState(false);
  const { data, error, refetch } = useQuery(relationsQuery(record.id));
  if (error !== null) return <FaultAlert error={error} retry={() => void refetch()} />;
  if (data === undefined) return <Loader size="sm" />;
  const groups = Map.groupBy(data, (relation) => relation.name);
  return (
    <Stack gap="xs">
      <Group justify="space-between" gap="xs">
        {can('relation.create') ? (
          <Button variant="default" leftSection={<IconPlus size={14} />} onClick={() => setAdding(true)}>
            {t.addRelation}
          </Button>
        ) : (
          <span />
        )}
        {data.length > 0 && (
          <SegmentedControl
            aria-label={t.relations}
            value={view}
            onChange={setView}
            data={[
              { value: 'list', label: t.asList },
              { value: 'graph', label: t.asGraph },
            ]}
          />
        )}
      </Group>
      {data.length === 0 && <Empty>{t.noRelations}</Empty>}
      {view === 'list' &&
        [...groups].map(([name, group]) => (
          <section key={name}>
            <h3 className={classes.heading}>{name}</h3>
            <ul className={classes.list}>
              {group.map((relation) => (
                <RelationLine
                  key={relation.id}
                  relation={relation}
                  recordId={record.id}
                  // The right to remove a relation is checked on its source record.
                  mayRemove={relation.direction === 'outgoing' && can('relation.delete')}
                />
              ))}
            </ul>
          </section>
        ))}
      {view === 'graph' && data.length > 0 && (
        <Suspense fallback={<Loader size="sm" />}>
          <RelationGraph record={record} />
        </Suspense>
      )}
      <Dialog opened={adding} onClose={() => setAdding(false)} title={t.addRelation}>
        {adding && <AddRelation record={record} onDone={() => setAdding(false)} />}
      </Dialog>
    </Stack>
  );
}

function RelationLine({ relation, recordId, mayRemove }: { relation: Relation; recordId: string; mayRemove: boolean }) {
  const t = useText(texts);
  const name = relatedName(relation.related, t.hiddenTitle);
  const remove = useAction({
    run: () =>
      call<typeof relations.removeRelation>('DELETE', `/relations/${relation.id}`, {
        body: { expectedRevision: relation.revision },
      }),
    touches: [recordKey(recordId), recordKey(relation.related.id)],
  });
  const ask = async (): Promise<void> => {
    const title = t.removeRelation(name);
    if (await confirm({ title, body: t.removeRelationBody, yes: t.delete, danger: true })) remove.mutate();
  };
  return (
    <li className={classes.item}>
      <IconLink size={16} stroke={1.5} />
      <span className={classes.text}>
        <Anchor
          size="sm"
          renderRoot={(props) => <Link to="/records/$recordId" params={{ recordId: relation.related.id }} {...props} />}
        >
          {name}
        </Anchor>
        {isArchived(relation.related) && <small>{t.archived}</small>}
      </span>
      {mayRemove && (
        <ActionIcon onClick={() => void ask()} aria-label={t.removeRelation(name)}>
          <IconX size={15} />
        </ActionIcon>
      )}
    </li>
  );
}

function AddRelation({ record, onDone }: { record: DocketRecord; onDone: () => void }) {
  const t = useText(texts);
  const { definitions, error } = useRelationDefinitions(record);
  const [chosen, setChosen] = useState<string | null>(null);
  const [target, setTarget] = useState<string | null>(null);
  const definition = definitions.find((one) => one.id === (chosen ?? definitions[0]?.id));
  const add = useAction({
    run: (body: { definitionId: string; targetObjectId: string }) =>
      call<typeof relations.addRelation>('POST', `/objects/${record.id}/relations`, {
        body,
        idempotencyKey: crypto.randomUUID(),
      }),
    touches: [recordKey(record.id)],
    after: onDone,
    quiet: true,
  });
  return (
    <Stack gap="sm">
      <FaultAlert error={error ?? add.error} />
      <Select
        label={t.relationKind}
        data={definitions.map((one) => ({ value: one.id, label: one.name }))}
        value={definition?.id ?? null}
        onChange={(id) => {
          setChosen(id);
          setTarget(null);
        }}
        allowDeselect={false}
      />
      {definition !== undefined && (
        <RecordPicker
          key={definition.id}
          label={t.relationTarget}
          types={definition.targetTypeIds}
          value={target}
          onChange={setTarget}
          required
        />
      )}
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onDone}>
          {t.cancel}
        </Button>
        <Button
          disabled={definition === undefined || target === null}
          loading={add.isPending}
          onClick={() =>
            definition !== undefined &&
            target !== null &&
            add.mutate({ definitionId: definition.id, targetObjectId: target })
          }
        >
          {t.addRelation}
        </Button>
      </Group>
    </Stack>
  );
}

/** The relations that can be added to the record. */
function useRelationDefinitions(record: DocketRecord) {
  const { data: definitions = [], error } = useQuery({
    queryKey: [...recordKey(record.id), 'relation-definitions'],
    queryFn: ({ signal }) =>
      call<typeof relations.listDefinitions>('GET', '/relation-definitions', {
        query: { sourceObjectId: record.id },
        signal,
      }),
  });
  return { definitions, error };
}
