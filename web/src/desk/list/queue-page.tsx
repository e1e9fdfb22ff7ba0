/** A saved queue. Changes to its view are not stored until the user saves them. */
import { Loader } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { useText } from '../../i18n/text.ts';
import { Empty } from '../../ui/empty.tsx';
import { type Queue, type QueueDefinition, queuesQuery } from '../queries.ts';
import { QueueTools } from '../queues/save-queue.tsx';
import { ListView } from './list-view.tsx';
import { texts } from './texts.ts';

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
      definition={definition}
      onDefinition={setDefinition}
      tools={<QueueTools queue={queue} definition={definition} />}
    />
  );
}
