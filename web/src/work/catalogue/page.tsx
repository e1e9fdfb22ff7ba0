/** The service catalog: browse by category, search, and request by form. */
import { Loader, TextInput } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type AnswerOf, call } from '../../api/client.ts';
import type { catalog } from '../../api/types.ts';
import { useLanguage } from '../../i18n/language.ts';
import { useText } from '../../i18n/text.ts';
import { Empty } from '../../ui/empty.tsx';
import { FaultAlert } from '../../ui/fault.tsx';
import { Page } from '../../ui/page.tsx';
import classes from './catalogue.module.css';
import { RequestDialog } from './request.tsx';
import { texts } from './texts.ts';

type Catalog = NonNullable<AnswerOf<typeof catalog.getCatalog>>;

export default function CataloguePage() {
  const t = useText(texts);
  const language = useLanguage();
  const { data, error, refetch, isPending } = useQuery({
    queryKey: ['catalogue', language],
    queryFn: ({ signal }) =>
      call<typeof catalog.getCatalog>('GET', '/catalog', { query: { locale: language }, signal }),
  });
  return (
    <Page title={data?.name ?? t.title} hint={t.hint}>
      <FaultAlert error={error} retry={() => void refetch()} />
      {isPending && <Loader size="sm" />}
      {data === null && <Empty>{t.none}</Empty>}
      {data !== null && data !== undefined && <Browse whole={data} />}
    </Page>
  );
}

/** A category and all its descendants. */
function below(whole: Catalog, id: string): Set<string> {
  const found = new Set([id]);
  // Children may precede their parents in the list, so it is scanned until nothing is added.
  for (let before = 0; before !== found.size; ) {
    before = found.size;
    for (const one of whole.categories) if (one.parentId !== null && found.has(one.parentId)) found.add(one.id);
  }
  return found;
}

function Browse({ whole }: { whole: Catalog }) {
  const t = useText(texts);
  const [category, setCategory] = useState<string>();
  const [words, setWords] = useState('');
  const [open, setOpen] = useState<string>();
  const wanted = words.trim().toLowerCase();
  const inside = category === undefined ? undefined : below(whole, category);
  const items = whole.items.filter(
    (item) =>
      (inside === undefined || inside.has(item.categoryId)) &&
      `${item.name} ${item.description ?? ''}`.toLowerCase().includes(wanted),
  );
  const nameOf = (id: string): string => whole.categories.find((one) => one.id === id)?.name ?? '';
  return (
    <div className={classes.layout}>
      <div>
        <TextInput
          type="search"
          aria-label={t.search}
          placeholder={t.search}
          leftSection={<IconSearch size={14} />}
          value={words}
          onChange={(event) => setWords(event.currentTarget.value)}
          mb="sm"
        />
        <nav aria-label={t.categories}>
          <button
            type="button"
            className={classes.category}
            aria-current={category === undefined ? 'true' : undefined}
            onClick={() => setCategory(undefined)}
          >
            {t.all}
          </button>
          <Categories whole={whole} parent={null} chosen={category} onChoose={setCategory} />
        </nav>
      </div>
      {items.length === 0 ? (
        <Empty>{t.nothing}</Empty>
      ) : (
        <ul className={classes.items}>
          {items.map((item) => (
            <li key={item.id}>
              <button type="button" className={classes.item} onClick={() => setOpen(item.id)}>
                <small>{nameOf(item.categoryId)}</small>
                <strong>{item.name}</strong>
                {item.description !== null && <small>{item.description}</small>}
              </button>
            </li>
          ))}
        </ul>
      )}
      <RequestDialog item={whole.items.find((one) => one.id === open)} onClose={() => setOpen(undefined)} />
    </div>
  );
}

interface CategoriesProps {
  whole: Catalog;
  parent: string | null;
  chosen: string | undefined;
  onChoose: (id: string) => void;
}

function Categories({ whole, parent, chosen, onChoose }: CategoriesProps) {
  const known = new Set(whole.categories.map((one) => one.id));
  // A category without a visible parent is shown at the top level.
  const own = whole.categories.filter((one) =>
    parent === null ? one.parentId === null || !known.has(one.parentId) : one.parentId === parent,
  );
  if (own.length === 0) return null;
  return (
    <ul className={classes.categories}>
      {own.map((one) => (
        <li key={one.id}>
          <button
            type="button"
            className={classes.category}
            aria-current={chosen === one.id ? 'true' : undefined}
            onClick={() => onChoose(one.id)}
          >
            {one.name}
          </button>
          <Categories whole={whole} parent={one.id} chosen={chosen} onChoose={onChoose} />
        </li>
      ))}
    </ul>
  );
}
