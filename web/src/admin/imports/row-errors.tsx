import { useQuery } from '@tanstack/react-query';
import { createContext, type ReactNode, useContext, useMemo } from 'react';
import type { FieldSchema } from '../../api/types.ts';
import { deskTypesQuery, typeFieldsQuery } from '../../desk/queries.ts';
import { usePlaceText } from '../../ui/fault.tsx';
import type { Tone } from '../connections/tone.tsx';
import classes from './imports.module.css';
import type { RowStatus, Run } from './queries.ts';

export const TONES: Readonly<Record<RowStatus, Tone>> = {
  CREATED: 'good',
  UPDATED: 'good',
  SKIPPED: 'idle',
  FAILED: 'bad',
};

const NO_NAMES: ReadonlyMap<string, string> = new Map();
const FieldNames = createContext(NO_NAMES);

/** Provides field names of the target type to the error messages inside it. */
export function NamedFields({ type, children }: { type: string | null | undefined; children: ReactNode }) {
  const { data: types } = useQuery(deskTypesQuery);
  const id = types?.find((one) => one.id === type || one.code === type)?.id;
  const { data } = useQuery({ ...typeFieldsQuery(id ?? ''), enabled: id !== undefined });
  const names = useMemo(
    () => new Map((data?.fields as FieldSchema[] | undefined)?.map((field) => [field.code, field.name])),
    [data],
  );
  return <FieldNames value={names}>{children}</FieldNames>;
}

/** Field names by code, from {@link NamedFields}. */
export const useFieldNames = (): ReadonlyMap<string, string> => useContext(FieldNames);

/** Errors of a row. */
export function RowErrors({ errors }: { errors: Run['rows'][number]['errors'] }) {
  const placeText = usePlaceText(useFieldNames());
  return (
    <ul className={classes.errors}>
      {errors.map((error) => (
        <li key={`${error.path} ${error.code} ${error.message}`}>{placeText(error)}</li>
      ))}
    </ul>
  );
}
