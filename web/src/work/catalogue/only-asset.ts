/** The record that a user would choose anyway: the only one of the given types that refers to the user. */
import { useQueries, useQuery } from '@tanstack/react-query';
import { call } from '../../api/client.ts';
import type { desk, FieldSchema } from '../../api/types.ts';
import { useSession } from '../../app/session.ts';
import { type DeskType, deskTypesQuery, typeFieldsQuery } from '../../desk/queries.ts';

/** More than one is not obvious. */
const ENOUGH = 2;

/**
 * Records of the type that refer to the user. Requesters usually may not read the field with the owner, but then they may read
 * only what they own.
 */
async function ownRecords(type: DeskType, fields: readonly FieldSchema[], userId: string): Promise<string[]> {
  const users = fields.filter(({ dataType, multiple }) => dataType === 'user' && !multiple);
  if (users.length === 0 && type.canUpdate) return [];
  const conditions = users.map(({ code }) => ({ field: code, operator: 'equals', value: userId }));
  const filter = conditions.length === 0 ? undefined : JSON.stringify({ logic: 'OR', conditions });
  const query = { typeId: type.id, pageSize: ENOUGH, filter };
  const { rows } = await call<typeof desk.listDeskObjects>('GET', '/desk/objects', { query });
  return rows.map(({ id }) => id);
}

/** @param codes codes of record types; dictionaries are left out @returns null while it is unknown, or if there are several */
export function useOnlyAsset(codes: readonly string[]): string | null {
  const { user } = useSession();
  const { data: types = [] } = useQuery(deskTypesQuery);
  const asked = types.filter((type) => codes.includes(type.code) && type.category === 'object' && type.canRead);
  const schemas = useQueries({ queries: asked.map(({ id }) => typeFieldsQuery(id)) });
  const found = useQueries({
    queries: asked.map((type, index) => ({
      queryKey: ['records', 'of-user', type.id],
      queryFn: () => ownRecords(type, (schemas[index]?.data?.fields ?? []) as FieldSchema[], user.id ?? ''),
      enabled: schemas[index]?.data !== undefined && user.id !== null,
      staleTime: 60_000,
      // A field that cannot be filtered by is refused; then nothing is obvious.
      retry: false,
    })),
  });
  const ids = found.flatMap(({ data }) => data ?? []);
  return found.every(({ isPending }) => !isPending) && ids.length === 1 ? (ids[0] ?? null) : null;
}
