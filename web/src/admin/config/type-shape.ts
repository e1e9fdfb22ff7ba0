/** Data of record types for the forms of other sections: fields, workflow states and transitions. */
import { useQueries, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { FieldSchema } from '../../api/types.ts';
import type { ConditionField } from '../../filters/model.ts';
import { useSystemFields } from '../../filters/system-fields.ts';
import { useLanguage } from '../../i18n/language.ts';
import { fieldsOf, schemaOf } from '../types/model.ts';
import { itemQuery, sectionQuery } from './queries.ts';
import { type ItemValue, nameIn, valueOf } from './yaml-text.ts';
import { isActive } from '../../../../src/contract/state.ts';

export interface Named {
  code: string;
  name: string;
}

export interface TypeShape {
  fields: readonly FieldSchema[];
  /** The fields of the types and the system fields. */
  conditionFields: readonly ConditionField[];
  states: readonly Named[];
  transitions: readonly Named[];
}

interface ItemsRead {
  data: { text: string } | undefined;
  isPending: boolean;
}

/** The values of loaded items; items that are not loaded yet are omitted. */
function valuesOf(results: readonly ItemsRead[]): ItemValue[] {
  return results.flatMap(({ data }) => (data === undefined ? [] : [valueOf(data.text) ?? {}]));
}

/** The values of all items; empty while one of them is loading, because a part of the list would be taken for the whole. */
function wholeOf(results: readonly ItemsRead[]): ItemValue[] {
  return results.some(({ isPending }) => isPending) ? [] : valuesOf(results);
}

function useItems(section: string, codes: readonly string[], combine = valuesOf): ItemValue[] {
  return useQueries({ queries: codes.map((code) => itemQuery(section, code)), combine });
}

function namedOf(items: readonly ItemValue[], key: string, language: string): Named[] {
  const found = new Map<string, Named>();
  for (const item of items) {
    const list = item[key];
    if (!Array.isArray(list)) continue;
    for (const one of list as { code?: unknown; name?: unknown }[]) {
      if (typeof one?.code !== 'string') continue;
      found.set(one.code, { code: one.code, name: nameIn(one.name, language) || one.code });
    }
  }
  return [...found.values()];
}

/** The combined fields, states and transitions of these types. */
export function useTypeShape(codes: readonly string[]): TypeShape {
  const language = useLanguage();
  const known = useCodes('types');
  const types = useItems(
    'types',
    codes.filter((code) => known.some((one) => one.code === code)),
  );
  const workflows = useItems('workflows', [
    ...new Set(types.flatMap(({ workflow }) => (typeof workflow === 'string' ? [workflow] : []))),
  ]);
  const states = useMemo(() => namedOf(workflows, 'states', language), [workflows, language]);
  const system = useSystemFields(states);
  return useMemo(() => {
    const byCode = new Map<string, FieldSchema>();
    for (const type of types)
      for (const field of fieldsOf(type)) byCode.set(field.code, byCode.get(field.code) ?? schemaOf(field, language));
    const fields = [...byCode.values()];
    return {
      fields,
      conditionFields: [...fields, ...system.filter(({ code }) => !byCode.has(code))],
      states,
      transitions: namedOf(workflows, 'transitions', language),
    };
  }, [types, workflows, states, system, language]);
}

/** The active items of a section with all their properties; empty until all are loaded. */
export function useSection(section: string): readonly ItemValue[] {
  return useItems(
    section,
    useCodes(section).map(({ code }) => code),
    wholeOf,
  );
}

/** The types that use this workflow. */
export function useTypesOfWorkflow(workflow: string): readonly string[] {
  const types = useSection('types');
  return types.flatMap((type) => (type['workflow'] === workflow ? [String(type['code'])] : []));
}

/** The active items of a section as choices. */
export function useCodes(section: string): readonly Named[] {
  const language = useLanguage();
  const { data } = useQuery(sectionQuery(section));
  return useMemo(
    () => (data ?? []).filter(isActive).map(({ code, name }) => ({ code, name: nameIn(name, language) || code })),
    [data, language],
  );
}
