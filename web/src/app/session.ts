/** The current session. The session token is a cookie that scripts cannot read. */
import { type QueryClient, queryOptions, useQuery } from '@tanstack/react-query';
import type { GlobalRight } from '../../../src/contract/rights.ts';
import { ApiFault, call, setCsrfToken } from '../api/client.ts';
import type { access, Session } from '../api/types.ts';
import { suggestLanguage } from '../i18n/language.ts';
import { chooseZone } from '../i18n/zone.ts';

/** The session, or null if nobody is signed in. */
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
 * Reloads the session after the CSRF token of a write was rejected.
 *
 * @returns true if the same user is signed in, so that the write may be repeated
 */
export async function renewToken(client: QueryClient): Promise<boolean> {
  const before = client.getQueryData(sessionQuery.queryKey);
  const now = await client.fetchQuery({ ...sessionQuery, staleTime: 0 });
  if (now !== null && now.user.id === before?.user.id) return true;
  // Another user signed in: data loaded for the previous user must not be shown.
  client.clear();
  client.setQueryData(sessionQuery.queryKey, now);
  return false;
}

/** The session, on pages that require sign-in. */
export function useSession(): Session {
  const { data } = useQuery(sessionQuery);
  return (
    data ?? { user: { id: null, displayName: '', locale: null, timezone: null }, groups: [], orgUnit: null, rights: [] }
  );
}

/** Returns a check of global rights. Actions without the right are not offered. */
export function useHas(): (right: GlobalRight) => boolean {
  const { rights } = useSession();
  return (right) => rights.includes(right);
}
