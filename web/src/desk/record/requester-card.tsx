/** The requester of a record beside its properties: contacts, other open requests and assets, by the rights of the user. */
import { Anchor } from '@mantine/core';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { call } from '../../api/client.ts';
import type { desk, deskRecord, DocketRecord } from '../../api/types.ts';
import { useText } from '../../i18n/text.ts';
import { PersonName } from '../../ui/person.tsx';
import { deskTypesQuery, recordKey, relatedName, typeFieldsQuery } from '../queries.ts';
import { texts } from '../texts.ts';
import { actionTexts } from './action-texts.ts';
import classes from './macros.module.css';
import styles from './record.module.css';

const SHOWN = 3;

const requesterQuery = (id: string, userId: string) =>
  queryOptions({
    queryKey: [...recordKey(id), 'requester', userId],
    queryFn: ({ signal }) => call<typeof deskRecord.getRequester>('GET', `/objects/${id}/requester`, { signal }),
  });

/** Records that the condition selects, of all types or of one, newest first. */
function recordsQuery(filter: object | undefined, typeId?: string) {
  return queryOptions({
    queryKey: ['records', 'card', filter, typeId],
    queryFn: ({ signal }) =>
      call<typeof desk.listDeskObjects>('GET', '/desk/objects', {
        query: { filter: JSON.stringify(filter), typeId, pageSize: SHOWN + 1 },
        signal,
      }),
    enabled: filter !== undefined,
    staleTime: 30_000,
    retry: false,
  });
}

const is = (field: string, value: unknown) => ({ field, operator: Array.isArray(value) ? 'in' : 'equals', value });

export default function RequesterCard({ record, userId }: { record: DocketRecord; userId: string }) {
  const t = useText(actionTexts);
  const { data } = useQuery(requesterQuery(record.id, userId));
  if (data === undefined || data === null) return null;
  return (
    <section className={classes.card} aria-label={t.requester}>
      <h2 className={styles.sideHeading}>{t.requester}</h2>
      <PersonName name={data.name} />
      <dl>
        {data.login !== null && (
          <>
            <dt>{t.login}</dt>
            <dd>{data.login}</dd>
          </>
        )}
        {data.email !== null && (
          <>
            <dt>{t.email}</dt>
            <dd>
              <Anchor size="sm" href={`mailto:${encodeURIComponent(data.email)}`}>
                {data.email}
              </Anchor>
            </dd>
          </>
        )}
        {data.unit !== null && (
          <>
            <dt>{t.unit}</dt>
            <dd>{data.unit}</dd>
          </>
        )}
      </dl>
      <OpenRequests record={record} userId={userId} />
      <Assets userId={userId} />
    </section>
  );
}

function OpenRequests({ record, userId }: { record: DocketRecord; userId: string }) {
  const t = useText(actionTexts);
  const conditions = [is('requester', userId), is('workflowCategory', ['open', 'waiting'])];
  const { data } = useQuery(recordsQuery({ logic: 'AND', conditions }));
  const others = data?.rows.filter(({ id }) => id !== record.id).slice(0, SHOWN) ?? [];
  const total = data === undefined ? 0 : data.total - (data.rows.some(({ id }) => id === record.id) ? 1 : 0);
  return <Records title={t.openRequests} rows={others} total={total} />;
}

/** Records of the type `asset` that refer to the user. */
function Assets({ userId }: { userId: string }) {
  const t = useText(actionTexts);
  const { data: types = [] } = useQuery(deskTypesQuery);
  const type = types.find(({ code, canRead }) => code === 'asset' && canRead);
  const { data: schema } = useQuery({ ...typeFieldsQuery(type?.id ?? ''), enabled: type !== undefined });
  const fields = (schema?.fields as { code: string; dataType: string }[] | undefined) ?? [];
  const conditions = fields.filter(({ dataType }) => dataType === 'user').map(({ code }) => is(code, userId));
  const filter = conditions.length === 0 ? undefined : { logic: 'OR', conditions };
  const { data } = useQuery(recordsQuery(filter, type?.id));
  return <Records title={t.assets} rows={data?.rows.slice(0, SHOWN) ?? []} total={data?.total ?? 0} />;
}

interface RecordsProps {
  title: string;
  rows: readonly Pick<DocketRecord, 'id' | 'number' | 'title' | 'workflowState'>[];
  total: number;
}

function Records({ title, rows, total }: RecordsProps) {
  const t = useText(texts);
  if (rows.length === 0) return null;
  return (
    <>
      <h3>{total > rows.length ? `${title} (${total})` : title}</h3>
      <ul>
        {rows.map((row) => (
          <li key={row.id}>
            <Anchor
              size="sm"
              renderRoot={(props) => <Link to="/records/$recordId" params={{ recordId: row.id }} {...props} />}
            >
              {relatedName({ ...row } as never, t.hiddenTitle)}
            </Anchor>
          </li>
        ))}
      </ul>
    </>
  );
}
