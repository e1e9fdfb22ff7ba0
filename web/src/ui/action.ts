/** Something a person does: a call, then what must be read anew, and a word about how it went. */
import { notifications } from '@mantine/notifications';
import { type QueryKey, type UseMutationResult, useMutation, useQueryClient } from '@tanstack/react-query';
import { useFaultText } from './fault.tsx';

export interface ActionOptions<Input, Output> {
  run: (input: Input) => Promise<Output>;
  /** Keys of what is no longer true afterwards. */
  touches?: readonly QueryKey[];
  /** Said when it is done; nothing is said without it. */
  done?: string | ((output: Output, input: Input) => string | undefined);
  /** After it was done. */
  after?: (output: Output, input: Input) => unknown;
  /** The screen shows the fault itself; else it is shown as a message. */
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
      if (message !== undefined) notifications.show({ message, color: 'petrol', autoClose: 3000 });
      await options.after?.(output, input);
    },
    onError: (error) => {
      if (options.quiet !== true) notifications.show({ message: say(error), color: 'red', autoClose: 8000 });
    },
  });
}
