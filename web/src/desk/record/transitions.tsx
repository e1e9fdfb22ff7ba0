/** Buttons for the available transitions; a transition with required input opens a form. */
import { Button, Group, Menu, Stack, Text } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { IconChevronDown, IconEye } from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type SyntheticEvent, useRef, useState } from 'react';
import { call, dryRun } from '../../api/client.ts';
import { useSession } from '../../app/session.ts';
import type { DocketRecord, Transition, workflow } from '../../api/types.ts';
import { checkField } from '../../fields/check.ts';
import { FieldInput } from '../../fields/input.tsx';
import { useProblemText } from '../../fields/use-problem-text.ts';
import { useText } from '../../i18n/text.ts';
import { useAction } from '../../ui/action.ts';
import { useDeviceDraft, useForgetDraft } from '../../ui/device-draft.ts';
import { FaultAlert } from '../../ui/fault.tsx';
import { recordKey, workflowQuery } from '../queries.ts';
import { texts } from '../texts.ts';
import { refusalsOf } from './draft.ts';
import { WhatIf } from '../what-if.tsx';
import type { Tried } from '../what-if-answer.tsx';
import { whatIfTexts } from '../what-if-texts.ts';
import { isObvious, startingValues, transitionField } from './transition-fields.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { useDialogWarning } from '../../ui/form.tsx';

const SHOWN = 3;

interface TransitionsProps {
  record: DocketRecord;
  disabled: boolean;
  /** The transition whose form is open. */
  chosen: Transition | undefined;
  setChosen: (next: Transition | undefined) => void;
}

export function Transitions({ record, disabled, chosen, setChosen }: TransitionsProps) {
  const { data } = useQuery(workflowQuery(record.id));
  const { user } = useSession();
  const move = useTransition(record);
  const first = useRef<HTMLButtonElement>(null);
  // T moves to the transitions; Tab and Enter choose one.
  useHotkeys([['T', () => first.current?.focus(), { usePhysicalKeys: true }]]);
  if (data === undefined || data.transitions.length === 0) return null;
  const start = (transition: Transition): void => {
    move.reset();
    const values = startingValues(transition, record.values, user.id);
    if (isObvious(transition, record.values, values)) move.mutate({ transition, values });
    else setChosen(transition);
  };
  const tryTransition = async (values: Record<string, unknown>): Promise<Tried> =>
    await dryRun<typeof workflow.transitionObject>('POST', `/objects/${record.id}/transitions`, {
      body: transitionBody(record, chosen?.id ?? '', data.state?.id, values),
    });
  const shown = data.transitions.slice(0, SHOWN);
  const rest = data.transitions.slice(SHOWN);
  return (
    <>
      {shown.map((transition, index) => (
        <Button
          key={transition.id}
          ref={index === 0 ? first : undefined}
          variant={index === 0 ? 'filled' : 'default'}
          onClick={() => start(transition)}
          disabled={disabled}
          loading={move.isPending && move.variables?.transition.id === transition.id && chosen === undefined}
        >
          {transition.name}
        </Button>
      ))}
      {rest.length > 0 && <MoreTransitions disabled={disabled} rest={rest} start={start} />}
      <Dialog opened={chosen !== undefined} onClose={() => setChosen(undefined)} title={chosen?.name} size="lg">
        {chosen !== undefined && (
          <TransitionForm
            key={chosen.id}
            transition={chosen}
            record={record}
            pending={move.isPending}
            error={move.error}
            onSubmit={(values) =>
              move.mutate({ transition: chosen, values }, { onSuccess: () => setChosen(undefined) })
            }
            onCancel={() => setChosen(undefined)}
            onTry={tryTransition}
          />
        )}
      </Dialog>
    </>
  );
}

/** Menu items that open the form of each transition that the button makes at once, so that its effects can be shown before. */
export function TransitionPreviews({ record, disabled, onChoose }: PreviewsProps) {
  const { data } = useQuery(workflowQuery(record.id));
  const { user } = useSession();
  const t = useText(whatIfTexts);
  const direct = (data?.transitions ?? []).filter((one) =>
    isObvious(one, record.values, startingValues(one, record.values, user.id)),
  );
  if (direct.length === 0) return null;
  return (
    <>
      <Menu.Label>{t.ask}</Menu.Label>
      {direct.map((transition) => (
        <Menu.Item
          key={transition.id}
          leftSection={<IconEye size={14} />}
          disabled={disabled}
          onClick={() => onChoose(transition)}
        >
          {transition.name}
        </Menu.Item>
      ))}
      <Menu.Divider />
    </>
  );
}

interface PreviewsProps {
  record: DocketRecord;
  disabled: boolean;
  onChoose: (transition: Transition) => void;
}

function transitionBody(
  { revision }: DocketRecord,
  transitionId: string,
  stateId: string | undefined,
  values: Record<string, unknown>,
) {
  return { transitionId, expectedRevision: revision, expectedStateId: stateId ?? '', values };
}

const draftOf = ({ id }: DocketRecord, transition: Transition): string => `transition.${id}.${transition.id}`;

/**
 * Makes a transition and reloads the record. A form closes itself with the call of its own: meanwhile, the form of the next
 * transition may have been opened.
 */
export function useTransition(record: DocketRecord) {
  const client = useQueryClient();
  const t = useText(texts);
  const forget = useForgetDraft();
  return useAction({
    run: async ({ transition, values }: { transition: Transition; values: Record<string, unknown> }) => {
      const known = await client.ensureQueryData(workflowQuery(record.id));
      return await call<typeof workflow.transitionObject>('POST', `/objects/${record.id}/transitions`, {
        body: transitionBody(record, transition.id, known.state?.id, values),
      });
    },
    touches: [recordKey(record.id), ['records']],
    done: (_output, { transition }) => t.moved(transition.to.name),
    after: (_output, { transition }) => forget(draftOf(record, transition)),
  });
}

interface MoreTransitionsProps {
  disabled: boolean;
  rest: readonly Transition[];
  start: (transition: Transition) => void;
}

function MoreTransitions({ disabled, rest, start }: MoreTransitionsProps) {
  const t = useText(texts);
  return (
    <Menu>
      <Menu.Target>
        <Button variant="default" rightSection={<IconChevronDown size={14} />} disabled={disabled}>
          {t.more}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {rest.map((transition) => (
          <Menu.Item key={transition.id} onClick={() => start(transition)}>
            {transition.name}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

interface FormProps {
  transition: Transition;
  /** Provides current values; a form for several records has none. */
  record?: DocketRecord;
  /** The values with which the form starts. By default, the user and first options are suggested where a value is required. */
  start?: Readonly<Record<string, unknown>>;
  pending: boolean;
  error: unknown;
  onSubmit: (values: Record<string, unknown>) => void;
  onCancel: () => void;
  /** Asks what the transition with these values would do. */
  onTry?: (values: Record<string, unknown>) => Promise<Tried>;
  /** Type of the records, for the preview. */
  typeId?: string | undefined;
  names?: ReadonlyMap<string, string>;
}

/** What is typed in the form of a transition, kept on this device until it is made or cancelled. */
function useTransitionValues(
  transition: Transition,
  record: DocketRecord | undefined,
  start: FormProps['start'] | undefined,
) {
  const { user } = useSession();
  const draft = useDeviceDraft<Record<string, unknown>>(record === undefined ? undefined : draftOf(record, transition));
  const [values, setValues] = useState<Record<string, unknown>>(() => ({
    ...(start ?? startingValues(transition, record?.values ?? {}, user.id)),
    ...draft.read(),
  }));
  const [typed, setTyped] = useState(false);
  useDialogWarning(typed && record === undefined);
  const change = (code: string, next: unknown): void => {
    draft.keep({ ...values, [code]: next });
    setTyped(true);
    setValues((before) => ({ ...before, [code]: next }));
  };
  return { values, change, discard: () => draft.keep(undefined) };
}

export function TransitionForm(props: FormProps) {
  const { transition, record, start, typeId, pending, error, onSubmit, onCancel, onTry } = props;
  const place = record !== undefined ? { objectId: record.id } : typeId !== undefined ? { typeId } : null;
  const t = useText(texts);
  const problemText = useProblemText();
  const fields = transition.fields.map((field) => transitionField(field, t)).filter((field) => !field.readOnly);
  const { values, change, discard } = useTransitionValues(transition, record, start);
  const [tried, setTried] = useState(false);
  const value = (code: string): unknown => (Object.hasOwn(values, code) ? values[code] : record?.values[code]) ?? null;
  const problems = new Map(fields.map((field) => [field.code, checkField(field, value(field.code))]));
  const refusals = refusalsOf(error);
  const isComplete = [...problems.values()].every((problem) => problem === undefined);
  const given = (): Record<string, unknown> =>
    Object.fromEntries(fields.map((field) => [field.code, value(field.code)]).filter(([, one]) => one !== null));
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    setTried(true);
    if (isComplete) onSubmit(given());
  };
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="sm">
        <Text size="sm" c="dimmed">
          {t.to(transition.to.name)}
        </Text>
        {fields.map((field, index) => (
          <FieldInput
            key={field.code}
            field={field}
            value={value(field.code)}
            onChange={(next) => change(field.code, next)}
            error={
              (tried || Object.hasOwn(values, field.code) ? problemText(problems.get(field.code)) : undefined) ??
              refusals.get(field.code)
            }
            place={place}
            autoFocus={index === 0}
          />
        ))}
        {error !== null && error !== undefined && refusals.size === 0 && <FaultAlert error={error} />}
        {onTry !== undefined && (
          <WhatIf
            key={JSON.stringify(values)}
            ask={isComplete ? () => onTry(given()) : undefined}
            typeId={props.typeId ?? record?.typeDefinitionId}
            {...(props.names === undefined ? {} : { names: props.names })}
          />
        )}
        <FormButtons
          label={transition.name}
          pending={pending}
          onCancel={() => {
            discard();
            onCancel();
          }}
        />
      </Stack>
    </form>
  );
}

function FormButtons({ label, pending, onCancel }: { label: string; pending: boolean; onCancel: () => void }) {
  const t = useText(texts);
  return (
    <Group justify="flex-end" gap="xs">
      <Button variant="default" onClick={onCancel}>
        {t.cancel}
      </Button>
      <Button type="submit" loading={pending}>
        {label}
      </Button>
    </Group>
  );
}
