/** A user action: a call, the queries to invalidate, and a notification of the result. */
import { notify } from './notify.tsx';
import { type QueryKey, type UseMutationResult, useMutation, useQueryClient } from '@tanstack/react-query';
import { useFaultText } from './fault.tsx';

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

export function useAction<Input = void, Output = unknown>(
  options: ActionOptions<Input, Output>,
): UseMutationResult<Output, Error, Input> {
  const client = useQueryClient();
  const say = useFaultText();
  return useMutation<Output, Error, Input>({
    mutationFn: (input) => options.run(input),
    onSuccess: async (output, input) => {
      await Promise.all((options.touches ?? []).map((queryKey) => client.invalidateQueries({ queryKey })));
      const message = typeof options.done === 'function' ? options.done(output, input) : options.done;
      if (message !== undefined) notify({ message, color: 'petrol', autoClose: 3000 });
      await options.after?.(output, input);
    },
    onError: (error) => {
      if (options.quiet !== true) notify({ message: say(error), color: 'red', autoClose: 8000 });
    },
  });
}
