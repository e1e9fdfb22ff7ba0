/** Who is signed in. The session itself is a cookie that no script can read. */
import { type QueryClient, queryOptions, useQuery } from '@tanstack/react-query';
import { ApiFault, call, setCsrfToken } from '../api/client.ts';
import type { access, Session } from '../api/types.ts';
import { suggestLanguage } from '../i18n/language.ts';
import { chooseZone } from '../i18n/zone.ts';

/** The session, or null where nobody is signed in. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: async ({ signal }): Promise<Session | null> => {
    try {
      const session = await call<typeof access.getSession>('GET', '/session', { signal });
      setCsrfToken(session.csrfToken);
      suggestLanguage(session.user.locale);
      chooseZone(session.user.timezone);
      return session;
    } catch (error) {
      if (error instanceof ApiFault && error.status === 401) return null;
      throw error;
    }
  },
  staleTime: 60_000,
});

export async function signIn(client: QueryClient, login: string, password: string): Promise<void> {
  const answer = await call<typeof access.signIn>('POST', '/session', { body: { login, password } });
  setCsrfToken(answer.csrfToken);
  client.clear();
  await client.fetchQuery({ ...sessionQuery, staleTime: 0 });
}

export async function signOut(client: QueryClient): Promise<void> {
  await call<typeof access.signOut>('DELETE', '/session');
  client.clear();
  signedOut(client);
}

export function signedOut(client: QueryClient): void {
  setCsrfToken(undefined);
  client.setQueryData(sessionQuery.queryKey, null);
}

/**
 * Reads the session again after a write was refused for its token.
 *
 * @returns whether the same person is signed in, so that the write may be sent again
 */
export async function renewToken(client: QueryClient): Promise<boolean> {
  const before = client.getQueryData(sessionQuery.queryKey);
  const now = await client.fetchQuery({ ...sessionQuery, staleTime: 0 });
  if (now !== null && now.user.id === before?.user.id) return true;
  // Somebody else signed in: nothing that was loaded for the person before is shown any longer.
  client.clear();
  client.setQueryData(sessionQuery.queryKey, now);
  return false;
}

/** The session on pages that only somebody signed in sees. */
export function useSession(): Session {
  const { data } = useQuery(sessionQuery);
  return (
    data ?? { user: { id: null, displayName: '', locale: null, timezone: null }, groups: [], orgUnit: null, rights: [] }
  );
}

/** Asks for a right that concerns no single record; what nobody may do is not offered. */
export function useHas(): (right: string) => boolean {
  const { rights } = useSession();
  return (right) => rights.includes(right);
}
