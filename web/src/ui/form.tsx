/** Forms: the values, what the user changed, the save with its errors, and the warning about unsaved changes. */
import { Button, Group, Stack, Text } from '@mantine/core';
import { useBlocker } from '@tanstack/react-router';
import {
  type ChangeEvent,
  createContext,
  type ReactNode,
  type SyntheticEvent,
  use,
  useEffect,
  useRef,
  useState,
} from 'react';
import { ApiFault } from '../api/client.ts';
import { useText } from '../i18n/text.ts';
import { type ActionOptions, useAction } from './action.ts';
import { confirm } from './confirm.tsx';
import { useDeviceDraft } from './device-draft.ts';
import { FaultAlert } from './fault.tsx';
import { texts } from './texts.ts';

interface FormOptions<Values, Answer> extends Pick<ActionOptions<void, Answer>, 'touches' | 'done'> {
  /** The values before the user changed anything. Later values of it are ignored; use a `key` to start again. */
  start: Values;
  /**
   * Sends the values. `changed` holds only those that differ from the start or the last save. `key` is an idempotency key: the
   * same for a repeated attempt, another one after a change or a save.
   */
  send: (values: Values, changed: Partial<Values>, key: string) => Promise<Answer>;
  /** False while the values cannot be sent; undefined: always true. */
  ready?: (values: Values, changed: Partial<Values>) => boolean;
  /** Keeps what is typed on this device until it is saved. Names what the form changes, for example `article.<id>`. */
  draft?: string;
  /** Leaving the page with unsaved values asks no question: they are quickly given again. */
  disposable?: true;
  /** Called after the values were saved. */
  after?: (answer: Answer, values: Values) => unknown;
}

interface InputProps<Value> {
  value: Value;
  onChange: (value: Value) => void;
  /** What the service found wrong with the value. */
  error: string | undefined;
}

export interface Form<Values> {
  values: Values;
  changed: Partial<Values>;
  dirty: boolean;
  set: (part: Partial<Values>) => void;
  /** Props of an input whose `onChange` takes the value. */
  input: <Key extends keyof Values>(key: Key) => InputProps<Values[Key]>;
  /** Props of an input for text, whose `onChange` takes the DOM event. */
  text: (key: keyof Values) => {
    value: string;
    onChange: (event: ChangeEvent<HTMLInputElement | HTMLTextAreaElement>) => void;
    error: string | undefined;
  };
  ready: boolean;
  saving: boolean;
  error: Error | null;
  submit: () => void;
  /** True while the form shows a draft of an earlier visit. */
  restored: boolean;
  /** Removes the draft and everything that is not saved. */
  discard: () => void;
}

/** The state of a form. Leaving the page loses nothing: there is a draft, or the user is asked. */
export function useForm<Values extends object, Answer>(options: FormOptions<Values, Answer>): Form<Values> {
  const [base, setBase] = useState(options.start);
  const device = useDeviceDraft<Partial<Values>>(options.draft);
  const [draft] = useState(device.read);
  const [values, setValues] = useState({ ...options.start, ...draft });
  const changed = changesOf(base, values);
  const dirty = Object.keys(changed).length > 0;
  const settled = useRef(false);
  useUnsavedWarning(dirty && options.draft === undefined && options.disposable !== true, () => settled.current);
  const [key, setKey] = useState(() => crypto.randomUUID());
  const save = useAction<void, Answer>({
    run: () => options.send(values, changed, key),
    touches: options.touches ?? [],
    ...(options.done === undefined ? {} : { done: options.done }),
    after: (answer) => {
      settled.current = true;
      setBase(values);
      setKey(crypto.randomUUID());
      device.keep(undefined);
      return options.after?.(answer, values);
    },
    quiet: true,
  });
  const set = (part: Partial<Values>): void => {
    settled.current = false;
    setValues((before) => ({ ...before, ...part }));
    setKey(crypto.randomUUID());
    const open = changesOf(base, { ...values, ...part });
    device.keep(Object.keys(open).length === 0 ? undefined : open);
  };
  const discard = (): void => {
    settled.current = true;
    setValues(base);
    device.keep(undefined);
  };
  const places = save.error instanceof ApiFault ? save.error.places : [];
  const problem = (key: keyof Values) => places.find(({ path }) => path.endsWith(`/${String(key)}`))?.message;
  return {
    values,
    changed,
    dirty,
    set,
    input: (key) => ({
      value: values[key],
      onChange: (value) => set({ [key]: value } as unknown as Partial<Values>),
      error: problem(key),
    }),
    text: (key) => ({
      value: String(values[key]),
      onChange: (event) => set({ [key]: event.currentTarget.value } as unknown as Partial<Values>),
      error: problem(key),
    }),
    ready: options.ready?.(values, changed) ?? true,
    saving: save.isPending,
    error: save.error,
    submit: () => save.mutate(),
    restored: draft !== undefined && dirty,
    discard,
  };
}

function changesOf<Values extends object>(base: Values, values: Values): Partial<Values> {
  const changed = Object.entries(values).filter(
    ([key, value]) => JSON.stringify(value) !== JSON.stringify(base[key as keyof Values]),
  );
  return Object.fromEntries(changed) as Partial<Values>;
}

interface FormFrameProps {
  form: Pick<Form<never>, 'ready' | 'saving' | 'error' | 'submit'> & Partial<Pick<Form<never>, 'restored' | 'discard'>>;
  /** Text of the button that sends the form. */
  label: string;
  /** Shows a button that gives up. */
  onCancel?: () => void;
  /** Shown beside the buttons. */
  note?: ReactNode;
  children: ReactNode;
}

/** The form element with the error, the inputs and the buttons. */
export function FormFrame({ form, label, onCancel, note, children }: FormFrameProps) {
  const t = useText(texts);
  const send = (event: SyntheticEvent): void => {
    event.preventDefault();
    if (form.ready) form.submit();
  };
  return (
    <form onSubmit={send}>
      <Stack gap="sm">
        <FaultAlert error={form.error} inForm />
        {form.restored === true && <DraftRestored onDiscard={() => form.discard?.()} />}
        {children}
        <Group justify={onCancel === undefined ? 'flex-start' : 'flex-end'} gap="xs">
          {onCancel !== undefined && (
            <Button
              variant="default"
              onClick={() => {
                form.discard?.();
                onCancel();
              }}
            >
              {t.cancel}
            </Button>
          )}
          <Button type="submit" loading={form.saving} disabled={!form.ready}>
            {label}
          </Button>
          {note}
        </Group>
      </Stack>
    </form>
  );
}

/** Says that a draft was restored, and offers to discard it. */
export function DraftRestored({ onDiscard }: { onDiscard: () => void }) {
  const t = useText(texts);
  return (
    <Group gap="xs" role="status">
      <Text size="xs" c="dimmed">
        {t.draftRestored}
      </Text>
      <Button size="compact-xs" variant="subtle" color="gray" onClick={onDiscard}>
        {t.discardDraft}
      </Button>
    </Group>
  );
}

/** While `dirty`, leaving the page or closing the dialog needs a confirmation. `saved` is asked at the moment of leaving. */
export function useUnsavedWarning(dirty: boolean, saved: () => boolean = () => false): void {
  const t = useText(texts);
  useDialogWarning(dirty, saved);
  useBlocker({
    shouldBlockFn: async () =>
      dirty && !saved() && !(await confirm({ title: t.leaveTitle, body: t.leaveBody, yes: t.leave, danger: true })),
    enableBeforeUnload: dirty,
    disabled: !dirty,
  });
}

/** The functions that say whether something in the open dialog is unsaved; undefined outside of dialogs. */
export const DialogWarnings = createContext<Set<() => boolean> | undefined>(undefined);

/** While `dirty`, closing the dialog around this component needs a confirmation. */
export function useDialogWarning(dirty: boolean, saved: () => boolean = () => false): void {
  const warnings = use(DialogWarnings);
  const unsaved = useRef<() => boolean>(() => false);
  unsaved.current = () => dirty && !saved();
  useEffect(() => {
    const ask = (): boolean => unsaved.current();
    warnings?.add(ask);
    return () => void warnings?.delete(ask);
  }, [warnings]);
}
