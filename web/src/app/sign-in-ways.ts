/** Sign-in methods other than a password. */
import { queryOptions } from '@tanstack/react-query';
import { call } from '../api/client.ts';
import type { access } from '../api/types.ts';

export const signInWays = queryOptions({
  queryKey: ['sign-in-ways'],
  queryFn: ({ signal }) => call<typeof access.signInWays>('GET', '/session/ways', { signal }),
  staleTime: Number.POSITIVE_INFINITY,
});
