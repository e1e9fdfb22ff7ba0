/** The query cache. */
import { QueryClient } from '@tanstack/react-query';
import { ApiFault } from '../api/client.ts';

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5000,
      gcTime: 10 * 60_000,
      // Error answers are not retried, only missing answers and server errors.
      retry: (count, error) => count < 2 && error instanceof ApiFault && (error.status === 0 || error.status >= 500),
    },
    mutations: { retry: false },
  },
});
