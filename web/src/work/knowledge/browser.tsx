/** Browsing articles: bases and sections, the articles of a section, and search in their texts. */
import { Button, Group, Loader, SegmentedControl, Text, TextInput, Title } from '@mantine/core';
import { useDebouncedValue, useMediaQuery } from '@mantine/hooks';
import { IconSearch } from '@tabler/icons-react';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { Snippet } from '../../desk/search/search-page.tsx';
import { useFormats } from '../../i18n/format.ts';
import { useLanguage } from '../../i18n/language.ts';
import { useText } from '../../i18n/text.ts';
import { Empty } from '../../ui/empty.tsx';
import { FaultAlert } from '../../ui/fault.tsx';
import { useSearchWords } from '../../ui/search-words.ts';
import classes from './knowledge.module.css';
import { type Article, browseQuery, type Contents, contentsQuery, foundArticlesQuery, type Sort } from './queries.ts';
import { texts } from './texts.ts';

interface BrowserProps {
  /** The path below which articles and sections are: `/portal` or `/work/knowledge`. */
  root: string;
  sectionId?: string | undefined;
  /** Shown below "nothing found", for example a link to a form with the words. */
  otherwise?: ((words: string) => ReactNode) | undefined;
}

/** A path below the root, as the router takes it. */
export const pathOf = (...parts: string[]): string => parts.join('/');

export function KnowledgeBrowser({ root, sectionId, otherwise }: BrowserProps) {
  const t = useText(texts);
  const [typed, setTyped] = useSearchWords();
  const [words] = useDebouncedValue(typed.trim(), 200);
  const searching = (typed.match(/[\p{L}\p{N}]/gu)?.length ?? 0) >= 2;
  const { data: contents, error, refetch } = useQuery(contentsQuery(useLanguage()));
  return (
    <div className={classes.browser} data-wide>
      <Sections root={root} contents={contents} chosen={sectionId} />
      <div className={classes.list}>
        <TextInput
          type="search"
          size="md"
          aria-label={t.search}
          placeholder={t.searchHint}
          leftSection={<IconSearch size={18} />}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
        <FaultAlert error={error} retry={() => void refetch()} />
        {contents?.length === 0 && <Empty>{t.none}</Empty>}
        {searching && <Found words={words} root={root} otherwise={otherwise} />}
        {!searching && contents !== undefined && contents.length > 0 && (
          <Listed key={sectionId ?? ''} root={root} contents={contents} sectionId={sectionId} />
        )}
      </div>
    </div>
  );
}

type Base = Contents[number];
type Section = Base['sections'][number];

/** Articles of a section and the sections below it. */
function total(sections: readonly Section[], section: Section): number {
  const below = sections.filter(({ parentId }) => parentId === section.id);
  return section.articles + below.reduce((sum, one) => sum + total(sections, one), 0);
}

interface SectionsProps {
  root: string;
  contents: Contents | undefined;
  chosen: string | undefined;
}

/** The tree of sections; on narrow screens it can be closed, and is while a section is chosen. */
function Sections({ root, contents, chosen }: SectionsProps) {
  const t = useText(texts);
  const wide = useMediaQuery('(min-width: 62em)', true, { getInitialValueInEffect: false });
  if (contents === undefined || contents.length === 0) return <div />;
  return (
    <details key={`${wide} ${chosen}`} className={classes.sections} open={wide || undefined}>
      <summary>{t.sections}</summary>
      <nav aria-label={t.sectionsLabel}>
        <Link
          to={pathOf(root, 'articles')}
          className={classes.section}
          aria-current={chosen === undefined ? 'page' : undefined}
        >
          {t.allArticles}
        </Link>
        {contents.map((base) => (
          <section key={base.id} aria-label={base.name}>
            {contents.length > 1 && <h2 className={classes.base}>{base.name}</h2>}
            <Branch root={root} sections={base.sections} parent={null} chosen={chosen} />
          </section>
        ))}
      </nav>
    </details>
  );
}

interface BranchProps {
  root: string;
  sections: readonly Section[];
  parent: string | null;
  chosen: string | undefined;
}

function Branch({ root, sections, parent, chosen }: BranchProps) {
  const below = sections.filter((one) => one.parentId === parent);
  if (below.length === 0) return null;
  return (
    <ul className={classes.branch}>
      {below.map((one) => (
        <li key={one.id}>
          <Link
            to={pathOf(root, 'sections', one.id)}
            className={classes.section}
            aria-current={chosen === one.id ? 'page' : undefined}
          >
            <span>{one.name}</span>
            <span className="tabular">{total(sections, one)}</span>
          </Link>
          <Branch root={root} sections={sections} parent={one.id} chosen={chosen} />
        </li>
      ))}
    </ul>
  );
}

const SORTS = ['popular', 'newest', 'title'] as const satisfies readonly Sort[];

function Listed({ root, contents, sectionId }: { root: string; contents: Contents; sectionId: string | undefined }) {
  const t = useText(texts);
  const [sort, setSort] = useState<Sort>('popular');
  const articles = useInfiniteQuery(browseQuery({ sectionId, sort, locale: useLanguage() }));
  const section = contents.flatMap(({ sections }) => sections).find(({ id }) => id === sectionId);
  const rows = articles.data?.pages.flatMap((page) => page.rows);
  return (
    <>
      <Group justify="space-between" gap="xs">
        <Title order={2} size="h3">
          {section?.name ?? t.allArticles}
        </Title>
        <SegmentedControl
          size="xs"
          aria-label={t.sort}
          data={SORTS.map((one) => ({ value: one, label: one === 'title' ? t.byTitle : t[one] }))}
          value={sort}
          onChange={(next) => setSort(next as Sort)}
        />
      </Group>
      <FaultAlert error={articles.error} retry={() => void articles.refetch()} />
      {articles.isPending && <Loader size="sm" />}
      {rows?.length === 0 && <Empty>{t.none}</Empty>}
      <ul className={classes.articles}>
        {rows?.map((one) => (
          <ArticleLine key={one.id} root={root} article={one} />
        ))}
      </ul>
      <More query={articles} />
    </>
  );
}

function ArticleLine({ root, article }: { root: string; article: Article }) {
  const t = useText(texts);
  const format = useFormats();
  return (
    <li>
      <Link to={pathOf(root, 'articles', article.id)} className={classes.article}>
        <strong>{article.title}</strong>
        {article.summary !== null && article.summary !== article.title && <span>{article.summary}</span>}
        <small>
          {t.updated(format.relative(article.updatedAt))}
          {article.tags.map((tag) => ` · ${tag}`)}
        </small>
      </Link>
    </li>
  );
}

function Found({ words, root, otherwise }: { words: string; root: string } & Pick<BrowserProps, 'otherwise'>) {
  const t = useText(texts);
  const found = useInfiniteQuery(foundArticlesQuery(words));
  // An article in two languages is found twice.
  const hits = [
    ...new Map(found.data?.pages.flatMap((page) => page.results).map((hit) => [hit.id, hit] as const)).values(),
  ];
  return (
    <section aria-label={t.results} aria-live="polite">
      <FaultAlert error={found.error} retry={() => void found.refetch()} />
      {found.isPending && <Loader size="sm" />}
      {found.data !== undefined && hits.length === 0 && (
        <Text>
          {t.nothing}. {otherwise?.(words)}
        </Text>
      )}
      <ul className={classes.articles}>
        {hits.map((hit) => (
          <li key={hit.id}>
            <Link to={pathOf(root, 'articles', hit.id)} search={{ q: words }} className={classes.article}>
              <strong>{hit.title}</strong>
              {hit.snippet !== null && (
                <span>
                  <Snippet text={hit.snippet} />
                </span>
              )}
            </Link>
          </li>
        ))}
      </ul>
      <More query={found} />
    </section>
  );
}

interface MoreProps {
  query: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => Promise<unknown> };
}

function More({ query }: MoreProps) {
  const t = useText(texts);
  if (!query.hasNextPage) return null;
  return (
    <Group justify="center" mt="sm">
      <Button variant="default" loading={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
        {t.more}
      </Button>
    </Group>
  );
}
