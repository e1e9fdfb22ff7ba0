/** The current session. The session token is a cookie that scripts cannot read. */
import { type QueryClient, queryOptions, useQuery } from '@tanstack/react-query';
import type { GlobalRight } from '../../../src/contract/rights.ts';
import { ApiFault, call, type CallOptions, setCsrfToken } from '../api/client.ts';
import type { access, Session } from '../api/types.ts';
import { suggestLanguage } from '../i18n/language.ts';
import { chooseZone } from '../i18n/zone.ts';

/** Tells the other tabs of this browser who is signed in: they share the cookie. */
const TABS = 'docket.session';

function announce(userId: string | null): void {
  // The time makes every value different: other tabs get an event only for a change.
  localStorage.setItem(TABS, JSON.stringify({ userId, at: Date.now() }));
}

/** Calls `fn` with the user of every sign-in and session check in another tab. Returns a function that stops it. */
export function onOtherTab(fn: (userId: string | null) => void): () => void {
  const listen = ({ key, newValue }: StorageEvent): void => {
    if (key === TABS && newValue !== null) fn((JSON.parse(newValue) as { userId: string | null }).userId);
  };
  window.addEventListener('storage', listen);
  return () => window.removeEventListener('storage', listen);
}

/**
 * Asks the service who is signed in; null if nobody is.
 *
 * @param options `probe`: do not ask the user to sign in if the session has ended
 */
export async function fetchSession(options: Pick<CallOptions, 'signal' | 'probe'>): Promise<Session | null> {
  try {
    const session = await call<typeof access.getSession>('GET', '/session', options);
    setCsrfToken(session.csrfToken);
    suggestLanguage(session.user.locale);
    chooseZone(session.user.timezone);
    announce(session.user.id);
    return session;
  } catch (error) {
    if (error instanceof ApiFault && error.status === 401) return null;
    throw error;
  }
}

/** The session, or null if nobody is signed in. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: ({ signal }) => fetchSession({ signal }),
  staleTime: 60_000,
});

export async function signIn(client: QueryClient, login: string, password: string): Promise<void> {
  const answer = await call<typeof access.signIn>('POST', '/session', { body: { login, password }, probe: true });
  setCsrfToken(answer.csrfToken);
  client.clear();
  await client.fetchQuery({ ...sessionQuery, staleTime: 0 });
}

/** Signs in and keeps loaded data and open forms, for the user whose session has ended. @throws ApiFault */
export async function signInAgain(login: string, password: string): Promise<void> {
  const answer = await call<typeof access.signIn>('POST', '/session', { body: { login, password }, probe: true });
  setCsrfToken(answer.csrfToken);
}

export async function signOut(client: QueryClient): Promise<void> {
  await call<typeof access.signOut>('DELETE', '/session', { probe: true });
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

const NOBODY: Session = {
  user: { id: null, displayName: '', locale: null, timezone: null },
  groups: [],
  orgUnit: null,
  rights: [],
  interfaces: [],
};

/** The session, on pages that require sign-in. */
export function useSession(): Session {
  const { data } = useQuery(sessionQuery);
  return data ?? NOBODY;
}

/** Returns a check of global rights. Actions without the right are not offered. */
export function useHas(): (right: GlobalRight) => boolean {
  const { rights } = useSession();
  return (right) => rights.includes(right);
}

/** Ways to sign in other than a password. */
export const signInWays = queryOptions({
  queryKey: ['sign-in-ways'],
  queryFn: ({ signal }) => call<typeof access.signInWays>('GET', '/session/ways', { signal }),
  staleTime: Number.POSITIVE_INFINITY,
});
