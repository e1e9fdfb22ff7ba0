/** The records of one type, or of all types. The list's state is in the URL. */
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useText } from '../../i18n/text.ts';
import { deskTypesQuery, type QueueDefinition } from '../queries.ts';
import { SaveQueue } from '../queues/save-queue.tsx';
import { ListView } from './list-view.tsx';
import { texts } from './texts.ts';

export function RecordsPage() {
  const t = useText(texts);
  const navigate = useNavigate();
  const search = useSearch({ from: '/inside/records' });
  const { data: types = [] } = useQuery(deskTypesQuery);
  const type = types.find((one) => one.code === search.type);
  const { filter: written, ...rest } = search;
  const definition = useMemo((): QueueDefinition => {
    const filter = written === undefined ? undefined : parsed(written);
    return filter === undefined ? rest : { ...rest, filter };
  }, [written, rest]);
  const change = ({ filter, columns: _columns, ...next }: QueueDefinition): void =>
    void navigate({
      to: '/records',
      search: { ...next, ...(filter === undefined ? {} : { filter: JSON.stringify(filter) }) },
      replace: true,
    });
  const title = type?.name ?? (search.state === 'ARCHIVED' ? t.archive : t.all);
  return (
    <ListView
      key={search.type ?? ''}
      title={title}
      definition={definition}
      onDefinition={change}
      tools={<SaveQueue definition={definition} suggested={title} />}
    />
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
