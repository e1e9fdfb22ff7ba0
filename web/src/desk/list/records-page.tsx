/** The pages of a list: all records of a type or state, and a queue. */
import { Loader } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useRouter, useSearch } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { type Condition, partsOf } from '../../filters/model.ts';
import { useText } from '../../i18n/text.ts';
import { Empty } from '../../ui/empty.tsx';
import { builtInQueuesQuery, deskTypesQuery, type Queue, type QueueDefinition, queuesQuery } from '../queries.ts';
import { QueueTools, SaveQueue } from '../queues/save-queue.tsx';
import { BUILT_IN, texts as queueTexts } from '../queues/texts.ts';
import { ListView } from './list-view.tsx';
import { texts } from './texts.ts';

export function RecordsPage() {
  const t = useText(texts);
  const q = useText(queueTexts);
  const navigate = useNavigate();
  const router = useRouter();
  const search = useSearch({ from: '/inside/records' });
  const { data: types = [] } = useQuery(deskTypesQuery);
  const type = types.find((one) => one.code === search.type);
  const { filter: written, queue, ...rest } = search;
  const definition = useMemo((): QueueDefinition => {
    const filter = written === undefined ? undefined : parsed(written);
    return filter === undefined ? rest : { ...rest, filter };
  }, [written, rest]);
  const change = ({ filter, columns: _columns, ...next }: QueueDefinition): void =>
    void navigate({
      to: '/records',
      search: {
        ...next,
        ...(queue === undefined ? {} : { queue }),
        ...(filter === undefined ? {} : { filter: JSON.stringify(filter) }),
      },
      replace: true,
    });
  const { data: queues } = useQuery({ ...builtInQueuesQuery, enabled: queue !== undefined });
  const own = queues?.find(({ code }) => code === queue)?.definition;
  const builtIn = BUILT_IN.find((one) => one === queue && (own === undefined || isWithin(definition, own)));
  const title =
    builtIn === undefined ? (type?.plural ?? (search.state === 'ARCHIVED' ? t.archive : t.all)) : q[builtIn];
  return (
    <ListView
      key={`${search.type ?? ''} ${queue ?? ''}`}
      title={title}
      href={router.buildLocation({ to: '/records', search }).href}
      definition={definition}
      onDefinition={change}
      tools={<SaveQueue definition={definition} suggested={title} />}
    />
  );
}

/** True if a list shows only records of the queue: it has the queue's conditions, and maybe more. */
function isWithin(definition: QueueDefinition, queue: QueueDefinition): boolean {
  const parts = (filter: unknown): string[] =>
    filter === undefined ? [] : partsOf(filter as Condition).map((part) => JSON.stringify(part));
  const shown = parts(definition.filter);
  const { sla, done, slaPolicy } = definition;
  if (sla !== queue.sla || done !== queue.done || slaPolicy !== queue.slaPolicy) return false;
  return parts(queue.filter).every((part) => shown.includes(part));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

export function QueuePage() {
  const t = useText(texts);
  const { queueId } = useParams({ from: '/inside/queues/$queueId' });
  const { data } = useQuery(queuesQuery);
  const queue = data?.find((one) => one.id === queueId);
  if (data === undefined) return <Loader m="xl" size="sm" />;
  if (queue === undefined) return <Empty>{t.queueGone}</Empty>;
  return <OneQueue key={`${queue.id} ${queue.revision}`} queue={queue} />;
}

function OneQueue({ queue }: { queue: Queue }) {
  const [definition, setDefinition] = useState<QueueDefinition>(queue.definition);
  return (
    <ListView
      title={queue.name}
      href={`/queues/${queue.id}`}
      definition={definition}
      onDefinition={setDefinition}
      tools={<QueueTools queue={queue} definition={definition} />}
    />
  );
}
