/** The cache of answers. What a person looks at is asked for again when they come back to it, and otherwise now and then. */
import { QueryClient } from '@tanstack/react-query';
import { ApiFault } from '../api/client.ts';

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5000,
      gcTime: 10 * 60_000,
      // What is refused stays refused; only an answer that never came is asked for again.
      retry: (count, error) => count < 2 && error instanceof ApiFault && (error.status === 0 || error.status >= 500),
    },
    mutations: { retry: false },
  },
});
