/** The home page of requesters. */
import { Button, Group, Loader, Title } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import { IconAlertCircle } from '@tabler/icons-react';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { ARTICLE_READING_RIGHTS } from '../../../src/contract/rights.ts';
import { useHas } from '../app/session.ts';
import { useLanguage } from '../i18n/language.ts';
import { useText } from '../i18n/text.ts';
import { Empty } from '../ui/empty.tsx';
import { browseQuery, contentsQuery } from '../work/knowledge/queries.ts';
import { HelpSearch } from './help-search.tsx';
import classes from './portal.module.css';
import { type Catalog, catalogueQuery } from './queries.ts';
import { OwnRequests } from './requests.tsx';
import { texts } from './texts.ts';

/** Items and articles that the home page shows. */
const SHOWN = 6;

export function HomePage() {
  const t = useText(texts);
  const has = useHas();
  useDocumentTitle(`${t.title} · Docket`);
  return (
    <div className={classes.home}>
      <div className={classes.hero}>
        <Title order={1}>{t.title}</Title>
        <HelpSearch />
        <Button
          size="md"
          leftSection={<IconAlertCircle size={18} />}
          renderRoot={(props) => <Link to="/portal/$" params={{ _splat: 'report' }} {...props} />}
        >
          {t.report}
        </Button>
      </div>
      <Section title={t.requests} more={{ label: t.allRequests, to: '/portal/requests' }}>
        <OwnRequests limit={3} />
      </Section>
      <Section title={t.catalogue}>
        <CatalogueCards />
      </Section>
      {ARTICLE_READING_RIGHTS.some(has) && (
        <Section title={t.articles} more={{ label: t.allArticles, to: '/portal/articles' }}>
          <PopularArticles />
        </Section>
      )}
    </div>
  );
}

function Section({
  title,
  more,
  children,
}: {
  title: string;
  more?: { label: string; to: string };
  children: ReactNode;
}) {
  return (
    <section className={classes.section}>
      <Group justify="space-between" mb="xs">
        <Title order={2} size="h3">
          {title}
        </Title>
        {more !== undefined && <Link to={more.to}>{more.label}</Link>}
      </Group>
      {children}
    </section>
  );
}

/** A category and the categories below it. */
function below(whole: Catalog, id: string): string[] {
  const children = whole.categories.filter((one) => one.parentId === id);
  return [id, ...children.flatMap((one) => below(whole, one.id))];
}

function CatalogueCards() {
  const t = useText(texts);
  const { data: whole, isPending } = useQuery(catalogueQuery(useLanguage()));
  const [category, setCategory] = useState<string>();
  const [all, setAll] = useState(false);
  if (isPending) return <Loader size="sm" />;
  if (whole === null || whole === undefined || whole.items.length === 0) return <Empty>{t.noCatalogue}</Empty>;
  const top = whole.categories.filter((one) => !whole.categories.some(({ id }) => id === one.parentId));
  const inside = category === undefined ? undefined : below(whole, category);
  const items = whole.items.filter((item) => inside === undefined || inside.includes(item.categoryId));
  const choices = [{ id: undefined, name: t.allCategories }, ...top];
  return (
    <>
      {top.length > 1 && (
        <div className={classes.chips} role="group" aria-label={t.categories}>
          {choices.map(({ id, name }) => (
            <button key={id ?? ''} type="button" aria-pressed={category === id} onClick={() => setCategory(id)}>
              {name}
            </button>
          ))}
        </div>
      )}
      <ul className={classes.cards}>
        {(all ? items : items.slice(0, SHOWN)).map((item) => (
          <li key={item.id}>
            <Link to="/portal/$" params={{ _splat: `items/${item.id}` }} className={classes.card}>
              <strong>{item.name}</strong>
              {item.description !== null && <span className={classes.snippet}>{item.description}</span>}
            </Link>
          </li>
        ))}
      </ul>
      {!all && items.length > SHOWN && (
        <Button variant="default" mt="xs" onClick={() => setAll(true)}>
          {t.showAll(items.length)}
        </Button>
      )}
    </>
  );
}

/** Sections that the home page links to. */
const SECTIONS = 8;

function PopularArticles() {
  const t = useText(texts);
  const locale = useLanguage();
  const { data: contents = [] } = useQuery(contentsQuery(locale));
  const { data } = useInfiniteQuery(browseQuery({ sort: 'popular', locale, pageSize: SHOWN }));
  const sections = contents
    .flatMap((base) => base.sections)
    .filter(({ articles }) => articles > 0)
    .toSorted((a, b) => b.articles - a.articles)
    .slice(0, SECTIONS);
  return (
    <>
      {sections.length > 1 && (
        <nav className={classes.chips} aria-label={t.sections}>
          {sections.map(({ id, name }) => (
            <Link key={id} to="/portal/$" params={{ _splat: `sections/${id}` }}>
              {name}
            </Link>
          ))}
        </nav>
      )}
      <ul className={classes.cards}>
        {data?.pages[0]?.rows.map((article) => (
          <li key={article.id}>
            <Link to="/portal/$" params={{ _splat: `articles/${article.id}` }} className={classes.card}>
              <strong>{article.title}</strong>
              {article.summary !== null && article.summary !== article.title && (
                <span className={classes.snippet}>{article.summary}</span>
              )}
            </Link>
          </li>
        ))}
      </ul>
    </>
  );
}
