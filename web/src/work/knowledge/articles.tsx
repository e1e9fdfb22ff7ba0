/** Published articles. */
import { Anchor, Badge, Group, Loader, SegmentedControl, Stack, Text, TextInput } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useHas } from '../../app/session.ts';
import { type RichNode, RichText } from '../../fields/rich-text.tsx';
import { useFormats } from '../../i18n/format.ts';
import { useLanguage } from '../../i18n/language.ts';
import { useText } from '../../i18n/text.ts';
import { Empty } from '../../ui/empty.tsx';
import { FaultAlert } from '../../ui/fault.tsx';
import { Page, Panel } from '../../ui/page.tsx';
import { PersonName } from '../../ui/person.tsx';
import classes from './knowledge.module.css';
import { type Article, articleQuery, articlesQuery } from './queries.ts';
import { texts } from './texts.ts';

export function Articles({ onOpen }: { onOpen: (one: Article) => void }) {
  const t = useText(texts);
  const format = useFormats();
  const language = useLanguage();
  const [words, setWords] = useState('');
  const { data, error, refetch } = useQuery(articlesQuery(language));
  const wanted = words.trim().toLowerCase();
  const shown = data?.filter((one) =>
    `${one.title} ${one.summary ?? ''} ${one.tags.join(' ')}`.toLowerCase().includes(wanted),
  );
  return (
    <Stack gap="md">
      <FaultAlert error={error} retry={() => void refetch()} />
      <TextInput
        type="search"
        aria-label={t.search}
        placeholder={t.search}
        leftSection={<IconSearch size={14} />}
        value={words}
        onChange={(event) => setWords(event.currentTarget.value)}
        maw="24rem"
      />
      {shown === undefined && error === null && <Loader size="sm" />}
      {shown?.length === 0 && <Empty>{wanted === '' ? t.none : t.nothing}</Empty>}
      <ul className={classes.articles}>
        {shown?.map((one) => (
          <li key={one.id}>
            <button type="button" className={classes.article} onClick={() => onOpen(one)}>
              <strong>{one.title}</strong>
              {one.summary !== null && <span>{one.summary}</span>}
              <small>
                {t.updated(format.relative(one.updatedAt))}
                {one.tags.map((tag) => ` · ${tag}`)}
              </small>
            </button>
          </li>
        ))}
      </ul>
    </Stack>
  );
}

export function ArticlePage({ id, home = '/work/knowledge' }: { id: string; home?: string }) {
  const t = useText(texts);
  const has = useHas();
  const format = useFormats();
  const language = useLanguage();
  const [chosen, setChosen] = useState<string>();
  const { data, error, refetch } = useQuery(articleQuery(id, chosen ?? language));
  return (
    <Page title={data?.title ?? t.title} back={{ label: t.back, href: home }} narrow>
      <FaultAlert error={error} retry={() => void refetch()} />
      {data === undefined && error === null && <Loader size="sm" />}
      {data !== undefined && (
        <Panel>
          <Stack gap="sm">
            <Group gap="xs" justify="space-between">
              <Group gap="xs">
                {data.responsible !== null && <PersonName name={data.responsible.displayName} />}
                <Text size="xs" c="dimmed">
                  {t.updated(format.relative(data.updatedAt))}
                </Text>
                {data.tags.map((tag) => (
                  <Badge key={tag} variant="default" size="sm" tt="none" fw={400}>
                    {tag}
                  </Badge>
                ))}
              </Group>
              {data.locales.length > 1 && (
                <SegmentedControl aria-label={t.locale} data={data.locales} value={data.locale} onChange={setChosen} />
              )}
            </Group>
            {data.summary !== null && <Text size="sm">{data.summary}</Text>}
            <ArticleText document={data.bodyDocument} articleId={data.id} />
            {has('kb.write') && (
              <Anchor
                size="sm"
                renderRoot={(props) => (
                  <Link to="/work/$" params={{ _splat: `knowledge/versions/${data.versionId}` }} {...props} />
                )}
              >
                {t.manage}
              </Anchor>
            )}
          </Stack>
        </Panel>
      )}
    </Page>
  );
}

/** Base path of an article's images. */
export function imagesOf(articleId: string): string {
  return `/kb/articles/${articleId}`;
}

/** The text of an article. */
export function ArticleText({ document, articleId }: { document: unknown; articleId: string }) {
  return <RichText document={document as RichNode} recordId={imagesOf(articleId)} />;
}
