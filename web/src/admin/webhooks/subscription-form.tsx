/** Form of a subscription. A new one is created disabled, and only a disabled one can be changed. */
import { Alert, Group, Input, MultiSelect, NumberInput, Select, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { call } from '../../api/client.ts';
import type { FieldSchema, webhooks } from '../../api/types.ts';
import { useSession } from '../../app/session.ts';
import { type DeskType, deskTypesQuery, typeFieldsQuery } from '../../desk/queries.ts';
import { PersonPicker } from '../../fields/pickers.tsx';
import { ConditionEditor } from '../../filters/condition-editor.tsx';
import { type Condition, isComplete } from '../../filters/model.ts';
import { useSystemFields } from '../../filters/system-fields.ts';
import { EVENT_KINDS, eventName, eventTexts } from '../../i18n/event-texts.ts';
import { useText } from '../../i18n/text.ts';
import { FormFrame, useForm } from '../../ui/form.tsx';
import { codeAfter } from '../config/codes.ts';
import { CreateFirst, useCreateFirst } from '../config/missing.tsx';
import {
  type NewSubscription,
  secretsQuery,
  type Subscription,
  subscriptionsKey,
  subscriptionsQuery,
} from './queries.ts';
import { texts } from './texts.ts';
import { isActive } from '../../../../src/contract/state.ts';
import { Dialog } from '../../ui/dialog.tsx';

interface FormProps {
  opened: boolean;
  onClose: () => void;
  onSaved: (one: Subscription) => void;
  /** The subscription to change; undefined for a new one. */
  subscription?: Subscription;
}

export function SubscriptionForm(props: FormProps) {
  const t = useText(texts);
  return (
    <Dialog
      opened={props.opened}
      onClose={props.onClose}
      title={props.subscription === undefined ? t.create : props.subscription.code}
      size="lg"
    >
      <Form {...props} />
    </Dialog>
  );
}

function Form({ onClose, onSaved, subscription }: FormProps) {
  const t = useText(texts);
  const events = useText(eventTexts);
  const { data } = useQuery(deskTypesQuery);
  const types = data ?? [];
  const codes = useQuery(subscriptionsQuery).data?.map((one) => one.code) ?? [];
  const form = useSubscriptionForm(subscription, types, onSaved);
  const { types: chosen, condition } = form.values;
  const ids = chosen.map((one) => typeIdOf(types, one));
  return (
    <FormFrame form={form} label={subscription === undefined ? t.saveDisabled : t.save} onCancel={onClose}>
      <TextInput
        label={t.endpoint}
        description={t.endpointHint}
        required
        type="url"
        data-autofocus
        {...form.input('endpoint')}
        onChange={({ currentTarget: { value: endpoint } }) => {
          const { code, endpoint: before } = form.values;
          form.set({ endpoint, code: codeAfter(code, hostOf(before), hostOf(endpoint), codes) });
        }}
      />
      {subscription === undefined && (
        <TextInput label={t.code} description={t.codeHint} required {...form.text('code')} />
      )}
      <MultiSelect
        label={t.events}
        description={t.eventsHint}
        searchable
        data={EVENT_KINDS.map((kind) => ({ value: kind as string, label: eventName(events, kind) }))}
        {...form.input('kinds')}
      />
      <SecretInput value={form.values.secretRef} onChange={(secretRef) => form.set({ secretRef })} />
      <PersonPicker label={t.executor} description={t.executorHint} required {...form.input('executor')} />
      <MultiSelect
        label={t.types}
        placeholder={chosen.length === 0 ? t.typesAll : ''}
        searchable
        data={types.map((type) => ({ value: type.id, label: type.name }))}
        value={ids}
        onChange={(next) => form.set({ types: next })}
        {...useCreateFirst('types', data?.length)}
      />
      <Input.Wrapper label={t.condition} labelElement="div" size="xs">
        <ConditionOf
          types={types.filter((type) => ids.includes(type.id))}
          value={condition}
          onChange={(next) => form.set({ condition: next })}
        />
      </Input.Wrapper>
      <Group grow align="flex-start">
        <NumberInput label={t.maxAttempts} min={1} max={10} {...form.input('maxAttempts')} />
        <NumberInput label={t.baseDelay} min={1} max={3_600_000} {...form.input('baseDelayMs')} />
      </Group>
    </FormFrame>
  );
}

/** The host of an address that may be incomplete; the code of a new subscription is made from it. */
function hostOf(endpoint: string): string {
  return /^https?:\/\/([^/:?#]+)/.exec(endpoint.trim())?.[1] ?? '';
}

function typeIdOf(types: readonly DeskType[], idOrCode: string): string {
  return types.find((type) => type.code === idOrCode)?.id ?? idOrCode;
}

function useSubscriptionForm(
  subscription: Subscription | undefined,
  types: readonly DeskType[],
  onSaved: (one: Subscription) => void,
) {
  const t = useText(texts);
  const { user } = useSession();
  return useForm({
    start: {
      code: '',
      endpoint: subscription?.endpoint ?? 'https://',
      secretRef: subscription?.secretRef ?? null,
      executor: subscription?.executionPrincipalId ?? user.id,
      kinds: (subscription?.eventTypes ?? []) as string[],
      types: subscription?.filters.types ?? [],
      condition: subscription?.filters.condition as Condition | undefined,
      maxAttempts: (subscription?.retryPolicy.maxAttempts ?? 3) as number | string,
      baseDelayMs: (subscription?.retryPolicy.baseDelayMs ?? 1000) as number | string,
    },
    send: ({ code, condition, ...values }) => {
      const ids = values.types.map((one) => typeIdOf(types, one));
      const settings = {
        endpoint: values.endpoint.trim(),
        secretRef: values.secretRef ?? '',
        executionPrincipalId: values.executor ?? '',
        eventTypes: values.kinds as NewSubscription['eventTypes'],
        filters: {
          ...(ids.length === 0 ? {} : { types: ids }),
          ...(condition === undefined ? {} : { condition }),
        },
        retryPolicy: { maxAttempts: Number(values.maxAttempts), baseDelayMs: Number(values.baseDelayMs) },
      };
      return subscription === undefined
        ? call<typeof webhooks.createSubscription>('POST', '/webhooks', {
            body: { ...settings, code: code.trim(), enabled: false },
          })
        : call<typeof webhooks.changeSubscription>('PATCH', `/webhooks/${subscription.id}`, { body: settings });
    },
    ready: ({ code, endpoint, secretRef, executor, condition }) =>
      (subscription !== undefined || code.trim() !== '') &&
      endpoint.trim().length > 'https://'.length &&
      secretRef !== null &&
      executor !== null &&
      (condition === undefined || isComplete(condition)),
    touches: [subscriptionsKey],
    done: subscription === undefined ? t.created : t.changed,
    after: onSaved,
  });
}

/** The signing secret, or a hint that there is none yet. */
function SecretInput({ value, onChange }: { value: string | null; onChange: (code: string | null) => void }) {
  const t = useText(texts);
  const { data: secrets } = useQuery(secretsQuery);
  const usable = (secrets ?? []).filter((one) => isActive(one) || one.code === value);
  if (secrets !== undefined && usable.length === 0) {
    return (
      <Alert color="yellow" variant="light">
        <CreateFirst section="signingSecrets" />
      </Alert>
    );
  }
  return <Select label={t.secret} required data={usable.map((one) => one.code)} value={value} onChange={onChange} />;
}

interface ConditionOfProps {
  types: readonly DeskType[];
  value: Condition | undefined;
  onChange: (condition: Condition | undefined) => void;
}

/** A condition may use system fields and, if exactly one type is selected, its fields. */
function ConditionOf({ types, value, onChange }: ConditionOfProps) {
  const only = types.length === 1 ? types[0] : undefined;
  const { data } = useQuery({ ...typeFieldsQuery(only?.id ?? ''), enabled: only !== undefined });
  const states = useMemo(() => types.flatMap((type) => type.states), [types]);
  const system = useSystemFields(states);
  const fields = useMemo(() => {
    const own = only === undefined ? [] : ((data?.fields as FieldSchema[] | undefined) ?? []);
    const named = new Set(own.map((field) => field.code));
    return [...own, ...system.filter((field) => !named.has(field.code))];
  }, [only, data, system]);
  return <ConditionEditor value={value} onChange={onChange} fields={fields} />;
}
