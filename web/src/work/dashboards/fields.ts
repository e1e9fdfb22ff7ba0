/** The fields of the record types of a dashboard, for conditions, groups and headings. */
import { useQueries, useQuery } from '@tanstack/react-query';
import { useCallback, useMemo } from 'react';
import type { FieldSchema } from '../../api/types.ts';
import { deskTypesQuery, type DeskType, typeFieldsQuery } from '../../desk/queries.ts';
import type { ConditionField } from '../../filters/model.ts';
import { useSystemFields } from '../../filters/system-fields.ts';

/** The choices of a tile's form. */
export interface FieldChoices {
  types: readonly { code: string; name: string }[];
  /** The fields of the named types, each code once. */
  fields: readonly FieldSchema[];
  nameOf: (code: string) => string;
}

interface TypeFields extends FieldChoices {
  /** The types that the user may read. */
  types: readonly DeskType[];
  /** The fields and the system fields. */
  conditionFields: readonly ConditionField[];
}

/** @param codes codes or ids of record types */
export function useTypeFields(codes: readonly string[]): TypeFields {
  const { data: types } = useQuery(deskTypesQuery);
  const readable = useMemo(() => (types ?? []).filter(({ canRead }) => canRead), [types]);
  const named = useMemo(
    () => readable.filter(({ id, code }) => codes.includes(code) || codes.includes(id)),
    [readable, codes],
  );
  const fields = useQueries({
    queries: named.map(({ id }) => typeFieldsQuery(id)),
    combine: (results) => results.flatMap(({ data }) => (data?.fields ?? []) as FieldSchema[]),
  });
  const unique = useMemo(() => [...new Map(fields.map((field) => [field.code, field])).values()], [fields]);
  const system = useSystemFields(useMemo(() => named.flatMap(({ states }) => states), [named]));
  const nameOf = useCallback((code: string) => unique.find((field) => field.code === code)?.name ?? code, [unique]);
  return useMemo(() => {
    const own = new Set(unique.map(({ code }) => code));
    const conditionFields = [...unique, ...system.filter(({ code }) => !own.has(code))];
    return { types: readable, fields: unique, conditionFields, nameOf };
  }, [readable, unique, system, nameOf]);
}
