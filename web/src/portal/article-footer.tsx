/** Below an article: a request about it if it did not help, and related articles. */
import { Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useLanguage } from '../i18n/language.ts';
import { useText } from '../i18n/text.ts';
import { articlesQuery } from '../work/knowledge/queries.ts';
import { ReportLink } from './help-search.tsx';
import classes from './portal.module.css';
import { texts } from './texts.ts';

/** Related articles that are shown. */
const SHOWN = 4;

/** Articles with a common tag come first, then those of the same section. */
export function ArticleFooter({ id }: { id: string }) {
  const t = useText(texts);
  const { data = [] } = useQuery(articlesQuery(useLanguage()));
  const article = data.find((one) => one.id === id);
  if (article === undefined) return null;
  const common = (tags: readonly string[]): number => tags.filter((tag) => article.tags.includes(tag)).length;
  const related = data
    .filter((one) => one.id !== id && (common(one.tags) > 0 || one.sectionId === article.sectionId))
    .toSorted((a, b) => common(b.tags) - common(a.tags))
    .slice(0, SHOWN);
  return (
    <footer className={classes.request}>
      <p>
        {t.notHelped} <ReportLink title={article.title}>{t.report}</ReportLink>
      </p>
      {related.length > 0 && (
        <section aria-label={t.related}>
          <Title order={2} size="h3" mb="xs">
            {t.related}
          </Title>
          <ul className={classes.cards}>
            {related.map((one) => (
              <li key={one.id}>
                <Link to="/portal/$" params={{ _splat: `articles/${one.id}` }} className={classes.card}>
                  <strong>{one.title}</strong>
                </Link>
              </li>
            ))}
          </ul>
        </section>
      )}
    </footer>
  );
}
