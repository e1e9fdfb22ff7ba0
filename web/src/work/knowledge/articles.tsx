/** The page of a published article: text with a table of contents, "did this help?", related articles. */
import { Anchor, Badge, Button, Group, Loader, SegmentedControl, Stack, Text, Title } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { IconThumbDown, IconThumbUp } from '@tabler/icons-react';
import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useMemo, useState } from 'react';
import { type AnswerOf, call } from '../../api/client.ts';
import type { knowledge } from '../../api/types.ts';
import { useHas } from '../../app/session.ts';
import { headingsOf, plainText, type RichNode, RichText } from '../../fields/rich-text.tsx';
import { useFormats } from '../../i18n/format.ts';
import { useLanguage } from '../../i18n/language.ts';
import { useText } from '../../i18n/text.ts';
import { useAction } from '../../ui/action.ts';
import { FaultAlert } from '../../ui/fault.tsx';
import { Page, Panel } from '../../ui/page.tsx';
import { PersonName } from '../../ui/person.tsx';
import { useWordsInAddress } from '../../ui/search-words.ts';
import { pathOf } from './browser.tsx';
import classes from './knowledge.module.css';
import { articleQuery, browseQuery, contentsQuery, viewQuery } from './queries.ts';
import { texts } from './texts.ts';

interface ArticlePageProps {
  id: string;
  /** The path below which articles and sections are. */
  root: string;
  /** Offered to readers whom the article did not help. */
  otherwise?: (title: string) => ReactNode;
}

export function ArticlePage({ id, root, otherwise }: ArticlePageProps) {
  const t = useText(texts);
  const language = useLanguage();
  const [chosen, setChosen] = useState<string>();
  const { data, error, refetch } = useQuery(articleQuery(id, chosen ?? language));
  const { data: contents = [] } = useQuery(contentsQuery(language));
  const text = useMemo(() => withoutTitle(data?.bodyDocument as RichNode | undefined, data?.title), [data]);
  const section = contents.flatMap(({ sections }) => sections).find((one) => one.id === data?.sectionId);
  // The article that a search found leads back to its results.
  const words = useWordsInAddress();
  const back =
    words !== ''
      ? { label: t.backToResults, href: `${root}/articles`, search: { q: words } }
      : section === undefined
        ? { label: t.back, href: `${root}/articles` }
        : { label: section.name, href: `${root}/sections/${section.id}` };
  return (
    <Page title={data?.title ?? t.title} back={back}>
      <FaultAlert error={error} retry={() => void refetch()} />
      {data === undefined && error === null && <Loader size="sm" />}
      {data !== undefined && (
        <div className={classes.reading}>
          <Outline document={text} />
          <div>
            <Panel>
              <Stack gap="sm">
                <Facts article={data} onLocale={setChosen} />
                {data.summary !== null && data.summary !== data.title && <Text c="dimmed">{data.summary}</Text>}
                <ArticleText document={text} articleId={data.id} main />
                <Helped id={id}>{otherwise?.(data.title)}</Helped>
              </Stack>
            </Panel>
            <Related id={id} root={root} />
          </div>
        </div>
      )}
    </Page>
  );
}

/** Many texts begin with their title, which the page shows already. */
function withoutTitle(document: RichNode | undefined, title: string | undefined): RichNode {
  const [first, ...rest] = document?.content ?? [];
  if (first === undefined) return { type: 'doc', content: [] };
  const repeats = first.type === 'heading' && plainText(first).trim() === title?.trim();
  return { type: 'doc', content: repeats ? rest : [first, ...rest] };
}

interface FactsProps {
  article: AnswerOf<typeof knowledge.getArticle>;
  onLocale: (locale: string) => void;
}

function Facts({ article, onLocale }: FactsProps) {
  const t = useText(texts);
  const has = useHas();
  const format = useFormats();
  return (
    <Group gap="xs" justify="space-between">
      <Group gap="xs">
        {article.responsible !== null && <PersonName name={article.responsible.displayName} />}
        <Text size="xs" c="dimmed">
          {t.updated(format.relative(article.updatedAt))}
        </Text>
        {article.tags.map((tag) => (
          <Badge key={tag} variant="default" size="sm" tt="none" fw={400}>
            {tag}
          </Badge>
        ))}
        {has('kb.write') && (
          <Anchor
            size="xs"
            renderRoot={(props) => (
              <Link to="/work/$" params={{ _splat: `knowledge/versions/${article.versionId}` }} {...props} />
            )}
          >
            {t.manage}
          </Anchor>
        )}
      </Group>
      {article.locales.length > 1 && (
        <SegmentedControl
          size="xs"
          aria-label={t.locale}
          data={article.locales}
          value={article.locale}
          onChange={onLocale}
        />
      )}
    </Group>
  );
}

/** A table of contents is shown for at least as many headings. */
const FEWEST_HEADINGS = 2;

/** The table of contents, beside the text on wide screens, above it on narrow ones. */
function Outline({ document }: { document: RichNode }) {
  const t = useText(texts);
  const headings = useMemo(() => [...headingsOf(document).values()], [document]);
  const wide = useMediaQuery('(min-width: 75em)', true, { getInitialValueInEffect: false });
  if (headings.length < FEWEST_HEADINGS) return null;
  return (
    <details key={String(wide)} data-wide className={classes.outline} open={wide || undefined}>
      <summary>{t.outline}</summary>
      <nav aria-label={t.outline}>
        <ul>
          {headings.map(({ id, text, depth }) => (
            <li key={id} style={{ paddingLeft: `${Math.min(depth, 2) * 0.75}rem` }}>
              <a href={`#${id}`}>{text}</a>
            </li>
          ))}
        </ul>
      </nav>
    </details>
  );
}

/** "Did this help?" The vote can be changed; pressing it again removes it. */
function Helped({ id, children }: { id: string; children: ReactNode }) {
  const t = useText(texts);
  const client = useQueryClient();
  const { data } = useQuery(viewQuery(id));
  const vote = useAction({
    run: (helpful: boolean | null) =>
      call<typeof knowledge.voteOnArticle>('PUT', `/kb/articles/${id}/vote`, { body: { helpful } }),
    after: (answer) => client.setQueryData(viewQuery(id).queryKey, answer),
  });
  if (data === undefined) return null;
  const choices = [
    { helpful: true, label: t.yes, icon: IconThumbUp },
    { helpful: false, label: t.no, icon: IconThumbDown },
  ];
  return (
    <div className={classes.helped} role="group" aria-label={t.helped}>
      <b>{t.helped}</b>
      <Group gap="xs">
        {choices.map(({ helpful, label, icon: Icon }) => (
          <Button
            key={label}
            variant={data.helpful === helpful ? 'filled' : 'default'}
            leftSection={<Icon size={16} aria-hidden="true" />}
            aria-pressed={data.helpful === helpful}
            disabled={vote.isPending}
            onClick={() => vote.mutate(data.helpful === helpful ? null : helpful)}
          >
            {label}
          </Button>
        ))}
      </Group>
      <Text size="sm" role="status">
        {data.helpful === true && t.thanks}
        {data.helpful === false && t.sorry}
      </Text>
      {data.helpful !== true && children}
    </div>
  );
}

/** Related articles that are shown. */
const RELATED = 4;

function Related({ id, root }: { id: string; root: string }) {
  const t = useText(texts);
  const locale = useLanguage();
  const { data } = useInfiniteQuery(browseQuery({ relatedTo: id, sort: 'popular', locale, pageSize: RELATED }));
  const rows = data?.pages[0]?.rows ?? [];
  if (rows.length === 0) return null;
  return (
    <section aria-label={t.related} className={classes.related}>
      <Title order={2} size="h3" mb="xs">
        {t.related}
      </Title>
      <ul className={classes.articles}>
        {rows.map((one) => (
          <li key={one.id}>
            <Link to={pathOf(root, 'articles', one.id)} className={classes.article}>
              <strong>{one.title}</strong>
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Base path of an article's images. */
export function imagesOf(articleId: string): string {
  return `/kb/articles/${articleId}`;
}

/** The text of an article. */
export function ArticleText({
  document,
  articleId,
  main = false,
}: {
  document: unknown;
  articleId: string;
  main?: boolean;
}) {
  return <RichText document={document as RichNode} recordId={imagesOf(articleId)} main={main} />;
}
