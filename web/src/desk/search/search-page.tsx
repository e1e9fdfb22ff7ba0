/** Search: by text, record type, condition (form or JSON) and kind of result. Text, type and condition are in the URL. */
import { Button, Chip, Group, Loader, Select, Text } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import { infiniteQueryOptions, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { Fragment, type SyntheticEvent, useState } from 'react';
import { ARTICLE_READING_RIGHTS, type GlobalRight } from '../../../../src/contract/rights.ts';
import { type AnswerOf, call } from '../../api/client.ts';
import type { FieldSchema, search, Session } from '../../api/types.ts';
import { useHas, useSession } from '../../app/session.ts';
import { useText } from '../../i18n/text.ts';
import { Empty } from '../../ui/empty.tsx';
import { FaultAlert } from '../../ui/fault.tsx';
import { Time } from '../../ui/time.tsx';
import { FilterButton } from '../list/filter-button.tsx';
import { searchCondition } from '../list/source.ts';
import { type DeskType, deskTypesQuery, type QueueDefinition, typeFieldsQuery } from '../queries.ts';
import { StateBadge } from '../record/state-badge.tsx';
import { SearchField } from './search-field.tsx';
import classes from './search.module.css';
import { suggestionName, useSuggestions } from './suggestions.ts';
import { texts } from './texts.ts';

const KINDS = ['object', 'comment', 'article', 'service', 'user', 'group', 'org-unit'] as const;
type Kind = (typeof KINDS)[number];

/** The right that a kind needs in addition to rights on single items. */
const RIGHTS: Partial<Record<Kind, readonly GlobalRight[]>> = {
  article: ARTICLE_READING_RIGHTS,
  user: ['user.administer'],
  group: ['user.administer'],
  'org-unit': ['user.administer'],
};

function mayFind(kind: Kind, has: (right: GlobalRight) => boolean): boolean {
  const rights = RIGHTS[kind];
  return rights === undefined || rights.some(has);
}

type Result = AnswerOf<typeof search.search>['results'][number];

/** True if there is enough input for a search. */
function asks(q: string | undefined, condition: unknown): boolean {
  return condition !== undefined || (q?.match(/[\p{L}\p{N}]/gu)?.length ?? 0) >= 2;
}

function foundQuery(q: string | undefined, condition: unknown, kinds: readonly Kind[]) {
  const query = {
    q: q === undefined || q.trim() === '' ? undefined : q.trim(),
    filter: condition === undefined ? undefined : JSON.stringify(condition),
    kinds: condition === undefined ? kinds.join(',') : undefined,
  };
  return infiniteQueryOptions({
    queryKey: ['search', query],
    queryFn: async ({ pageParam, signal }) =>
      await call<typeof search.search>('GET', '/search', {
        query: { ...query, page: pageParam, pageSize: 30 },
        signal,
      }),
    initialPageParam: 1,
    getNextPageParam: (last) => (last.hasMore ? last.page + 1 : undefined),
    enabled: asks(q, condition),
  });
}

function conditionOf(filter: string | undefined, type: DeskType | undefined, session: Session): unknown {
  if (filter === undefined && type === undefined) return undefined;
  const definition: QueueDefinition = filter === undefined ? {} : { filter: JSON.parse(filter) as unknown };
  if (definition.filter === undefined) return { field: 'typeCode', operator: 'equals', value: type?.code };
  return searchCondition(definition, type, session);
}

export function SearchPage() {
  const t = useText(texts);
  const session = useSession();
  const navigate = useNavigate();
  const asked = useSearch({ from: '/inside/search' });
  const { data: types = [] } = useQuery(deskTypesQuery);
  const type = types.find((one) => one.code === asked.type);
  const [kinds, setKinds] = useState<readonly Kind[]>(['object']);
  const condition = conditionOf(asked.filter, type, session);
  const found = useInfiniteQuery(foundQuery(asked.q, condition, kinds));
  useDocumentTitle(`${asked.q ?? t.title} · Docket`);
  const go = (next: SearchInput): void => void navigate({ to: '/search', search: next, replace: true });
  const results = found.data?.pages.flatMap((page) => page.results) ?? [];
  const first = found.data?.pages[0];
  return (
    <div className={classes.page}>
      <h1 className={classes.heading}>{t.title}</h1>
      <SearchForm type={type} asked={asked} go={go} types={types} />
      <Group gap="xs" my="sm">
        <Select
          aria-label={t.type}
          placeholder={t.anyType}
          data={types.filter((one) => one.canRead).map((one) => ({ value: one.code, label: one.name }))}
          value={asked.type ?? null}
          onChange={(code) => {
            const { type: _old, ...rest } = asked;
            go(code === null ? rest : { ...rest, type: code });
          }}
          clearable
          clearButtonProps={{ 'aria-label': t.anyType }}
          searchable
          w={190}
        />
        {condition === undefined && <KindChoice kinds={kinds} setKinds={setKinds} />}
      </Group>
      {found.error !== null && <FaultAlert error={found.error} retry={() => void found.refetch()} />}
      {!asks(asked.q, condition) && <ShortQuestion text={asked.q ?? ''} />}
      {found.isFetching && results.length === 0 && <Loader size="sm" />}
      {first !== undefined && (
        <Text size="xs" c="dimmed" mb="xs" aria-live="polite">
          {first.results.length === 0 ? t.nothing : t.found(first.total, first.totalExact)}
        </Text>
      )}
      <ol className={classes.results}>
        {results.map((result) => (
          <ResultLine key={`${result.kind} ${result.id}`} result={result} types={types} />
        ))}
      </ol>
      {found.hasNextPage && (
        <Button variant="default" onClick={() => void found.fetchNextPage()} loading={found.isFetchingNextPage}>
          {t.more}
        </Button>
      )}
    </div>
  );
}

/** Records for a text that is too short for a search, by number and title. */
function ShortQuestion({ text }: { text: string }) {
  const t = useText(texts);
  const found = useSuggestions(text);
  if (found.length === 0) return <Empty>{t.hint}</Empty>;
  return (
    <ol className={classes.results}>
      {found.map((one) => (
        <li key={one.id} className={classes.result}>
          <div className={classes.title}>
            <Link to="/records/$recordId" params={{ recordId: one.id }}>
              {suggestionName(one) || t.untitled}
            </Link>
          </div>
          {one.workflowState !== null && (
            <div className={classes.meta}>
              <StateBadge state={one.workflowState} />
            </div>
          )}
        </li>
      ))}
    </ol>
  );
}

/** The search parameters of the address. */
interface SearchInput {
  q?: string;
  filter?: string;
  type?: string;
}

interface SearchFormProps {
  type: DeskType | undefined;
  asked: SearchInput;
  go: (next: SearchInput) => void;
  types: readonly DeskType[];
}

function SearchForm({ type, asked, go, types }: SearchFormProps) {
  const t = useText(texts);
  const schema = useQuery({ ...typeFieldsQuery(type?.id ?? ''), enabled: type !== undefined });
  const [words, setWords] = useState(asked.q ?? '');
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    go({ ...asked, q: words });
  };
  return (
    <form onSubmit={submit} className={classes.form} role="search">
      <SearchField label={t.words} value={words} onChange={setWords} />
      <Button type="submit" size="md">
        {t.go}
      </Button>
      <FilterButton
        size={42}
        value={asked.filter === undefined ? undefined : JSON.parse(asked.filter)}
        onApply={(filter) => {
          const { filter: _old, ...rest } = asked;
          go(filter === undefined ? rest : { ...rest, filter: JSON.stringify(filter) });
        }}
        fields={(schema.data?.fields as FieldSchema[] | undefined) ?? []}
        types={type === undefined ? types : [type]}
      />
    </form>
  );
}

interface KindChoiceProps {
  kinds: readonly Kind[];
  setKinds: (next: readonly Kind[]) => void;
}

function KindChoice({ kinds, setKinds }: KindChoiceProps) {
  const has = useHas();
  const t = useText(texts);
  const offered = KINDS.filter((kind) => mayFind(kind, has));
  return (
    <Chip.Group multiple value={[...kinds]} onChange={(next) => next.length > 0 && setKinds(next as Kind[])}>
      <Group gap={4} role="group" aria-label={t.kinds}>
        {offered.map((kind) => (
          <Chip key={kind} value={kind} size="xs">
            {t[kind]}
          </Chip>
        ))}
      </Group>
    </Chip.Group>
  );
}

/** The path of a result. Users, groups and units are found only by their administrators. */
function placeOf({ kind, id, objectId }: Result): string | undefined {
  switch (kind) {
    case 'object':
      return `/records/${id}`;
    case 'comment':
      return `/records/${objectId}`;
    case 'article':
      return `/work/knowledge/articles/${id}`;
    case 'user':
      return `/admin/people/${id}`;
    case 'group':
      return `/admin/groups/${id}`;
    case 'org-unit':
      return `/admin/units/${id}`;
    default:
      return undefined;
  }
}

function ResultLine({ result, types }: { result: Result; types: readonly DeskType[] }) {
  const t = useText(texts);
  const place = placeOf(result);
  const title = result.title ?? result.number ?? t.untitled;
  const type = types.find((one) => one.id === result.typeDefinitionId);
  return (
    <li className={classes.result} data-kind={result.kind}>
      <div className={classes.title}>
        {place === undefined ? <strong>{title}</strong> : <Link to={place}>{title}</Link>}
      </div>
      {result.snippet !== null && (
        <p className={classes.snippet}>
          <Snippet text={result.snippet} />
        </p>
      )}
      <div className={classes.meta}>
        {result.kind === 'object' ? type?.name : t[result.kind]}
        {result.number !== null && result.number !== undefined && <span className="tabular">{result.number}</span>}
        {result.workflowState !== null && result.workflowState !== undefined && (
          <StateBadge state={result.workflowState} />
        )}
        <Time at={result.updatedAt} />
      </div>
    </li>
  );
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'", '#x27': "'" };

function unescape(text: string): string {
  return text.replaceAll(/&(amp|lt|gt|quot|#39|#x27);/g, (whole, name: string) => ENTITIES[name] ?? whole);
}

/** Splits the snippet into matching and other parts. */
export function piecesOf(snippet: string): { text: string; hit: boolean }[] {
  return snippet
    .split(/(<mark>.*?<\/mark>)/s)
    .filter((piece) => piece !== '')
    .map((piece) => {
      const hit = piece.startsWith('<mark>');
      return { hit, text: unescape(hit ? piece.slice('<mark>'.length, -'</mark>'.length) : piece) };
    });
}

export function Snippet({ text }: { text: string }) {
  return piecesOf(text).map((piece, index) =>
    // Parts have no id; only the index identifies them.
    piece.hit ? (
      // oxlint-disable-next-line react/no-array-index-key
      <mark key={index}>{piece.text}</mark>
    ) : (
      // oxlint-disable-next-line react/no-array-index-key
      <Fragment key={index}>{piece.text}</Fragment>
    ),
  );
}
