/** A user action: a call, the queries to invalidate, and a notification of the result. */
import { notify } from './notify.tsx';
import {
  type QueryClient,
  type QueryKey,
  type UseMutationResult,
  useMutation,
  useQueryClient,
} from '@tanstack/react-query';
import { useFaultNotice } from './fault.tsx';

export interface ActionOptions<Input, Output> {
  run: (input: Input) => Promise<Output>;
  /** Keys of the queries to invalidate. */
  touches?: readonly QueryKey[];
  /** Success notification; none if undefined. */
  done?: string | ((output: Output, input: Input) => string | undefined);
  /** Called after success. */
  after?: (output: Output, input: Input) => unknown;
  /** True if the screen shows errors itself; otherwise a notification does. */
  quiet?: boolean;
}

/**
 * Marks queries as outdated after a change, and reloads those that the screen shows. The answer to a load that was already under
 * way may be older than the change. The library would keep that answer if the query has no earlier data or is not shown, so such
 * a query is marked again when its load has ended.
 */
export async function invalidate(client: QueryClient, ...keys: readonly QueryKey[]): Promise<void> {
  const one = async (queryKey: QueryKey): Promise<void> => {
    const loading = client
      .getQueryCache()
      .findAll({ queryKey, fetchStatus: 'fetching' })
      .filter((query) => query.state.data === undefined || !query.isActive());
    await Promise.all([
      client.invalidateQueries({ queryKey }),
      ...loading.map((query) => query.promise?.catch(() => {})),
    ]);
    await Promise.all(loading.map((query) => client.invalidateQueries({ queryKey: query.queryKey, exact: true })));
  };
  await Promise.all(keys.map(one));
}

export function useAction<Input = void, Output = unknown>(
  options: ActionOptions<Input, Output>,
): UseMutationResult<Output, Error, Input> {
  const client = useQueryClient();
  const say = useFaultNotice();
  return useMutation<Output, Error, Input>({
    mutationFn: (input) => options.run(input),
    onSuccess: async (output, input) => {
      await invalidate(client, ...(options.touches ?? []));
      const message = typeof options.done === 'function' ? options.done(output, input) : options.done;
      if (message !== undefined) notify({ message, color: 'petrol', autoClose: 3000 });
      await options.after?.(output, input);
    },
    onError: (error) => {
      if (options.quiet !== true) notify({ message: say(error), color: 'red', autoClose: 8000 });
    },
  });
}
