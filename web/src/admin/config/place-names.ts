/** Names of items and of places inside them, for plans and their impact: titles where the service only gives codes. */
import { useQueries, useQuery } from '@tanstack/react-query';
import { useCallback } from 'react';
import { useHas } from '../../app/session.ts';
import { useLanguage } from '../../i18n/language.ts';
import { useText } from '../../i18n/text.ts';
import { subjectTexts } from '../audit/texts.ts';
import { PAGES, type PagedSection } from './pages.ts';
import { propertyTexts } from './property-texts.ts';
import { type ConfigItem, itemQuery, type PlannedChange, sectionQuery } from './queries.ts';
import { nameIn, valueOf } from './yaml-text.ts';

export interface ItemName {
  /** The kind of the item: «Роль». */
  kind: string;
  /** Its name, or its code where it has none. */
  name: string;
}

/** Users are named by their logins, which are their codes: the list of users may be long. */
const isNamed = (section: string): section is PagedSection => Object.hasOwn(PAGES, section) && section !== 'users';

const combine = (lists: readonly { data: readonly ConfigItem[] | undefined }[]) => lists.map(({ data }) => data);

/** Names of the items of these sections by their codes. Until they are loaded, and for users without the right to read them, the codes. */
export function useItemNames(sections: readonly string[]): (section: string, code: string) => ItemName {
  const language = useLanguage();
  const kinds: Readonly<Record<string, string>> = useText(subjectTexts);
  const may = useHas()('config.manage');
  const wanted = may ? [...new Set(sections)].filter(isNamed) : [];
  const lists = useQueries({ queries: wanted.map((section) => ({ ...sectionQuery(section), retry: false })), combine });
  const key = wanted.join(' ');
  return useCallback(
    (section, code) => {
      const item = lists[key.split(' ').indexOf(section)]?.find((one) => one.code === code);
      return { kind: kinds[section] ?? section, name: nameIn(item?.name, language) || code };
    },
    [lists, key, kinds, language],
  );
}

/** A step of a path such as `fields[priority].name.ru-RU`: a property, or the code or index of a member of a list. */
const STEP = /\[([^\]]*)\]|[^.[\]]+/g;

/** The member of a list with this code or index. */
function memberOf(list: unknown, key: string): unknown {
  if (!Array.isArray(list)) return undefined;
  return list.find((one) => (one as { code?: unknown } | null)?.code === key) ?? list[Number(key)];
}

/** Says a place of a changed item by the names of properties and of parts: «Поля › Приоритет › Название › по-русски». */
export function usePlaceNames({ section, code, action }: PlannedChange): (path: string, value: unknown) => string {
  const language = useLanguage();
  const properties: Readonly<Record<string, string>> = useText(propertyTexts);
  const stored = useQuery({
    ...itemQuery(section, code),
    enabled: action === 'change' && isNamed(section),
    retry: false,
  });
  const item = stored.data === undefined ? undefined : valueOf(stored.data.text);
  return (path, value) => {
    let at: unknown = item;
    const steps = [...path.matchAll(STEP)];
    return steps
      .map(([step, key], index) => {
        if (key === undefined) {
          at = (at as Readonly<Record<string, unknown>> | undefined | null)?.[step];
          return properties[step] ?? step;
        }
        at = memberOf(at, key);
        // A new part is not stored: it is the value of the difference itself.
        const part = at ?? (index === steps.length - 1 ? value : undefined);
        const name = nameIn((part as { name?: unknown } | undefined | null)?.name, language);
        return name || (/^\d+$/.test(key) ? `№ ${Number(key) + 1}` : key.replaceAll('"', ''));
      })
      .join(' › ');
  };
}
