/** Form of a subscription. A new one is created disabled, and only a disabled one can be changed. */
import { Alert, Button, Group, Input, Modal, MultiSelect, NumberInput, Select, Stack, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { call } from '../../api/client.ts';
import type { FieldSchema, webhooks } from '../../api/types.ts';
import { useSession } from '../../app/session.ts';
import { type DeskType, deskTypesQuery, typeFieldsQuery } from '../../desk/queries.ts';
import { PersonPicker } from '../../fields/pickers.tsx';
import { ConditionEditor } from '../../filters/condition-editor.tsx';
import { type Condition, isComplete } from '../../filters/model.ts';
import { useSystemFields } from '../../filters/system-fields.ts';
import { useText } from '../../i18n/text.ts';
import { useAction } from '../../ui/action.ts';
import { FaultAlert } from '../../ui/fault.tsx';
import { eventName, eventTexts, EVENT_KINDS } from '../../i18n/event-texts.ts';
import { type NewSubscription, type Subscription, secretsQuery, subscriptionsKey } from './queries.ts';
import { texts } from './texts.ts';

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
    <Modal
      opened={props.opened}
      onClose={props.onClose}
      title={props.subscription === undefined ? t.create : props.subscription.code}
      size="lg"
    >
      <Form {...props} />
    </Modal>
  );
}

function Form({ onClose, onSaved, subscription }: FormProps) {
  const t = useText(texts);
  const events = useText(eventTexts);
  const { user } = useSession();
  const { data: secrets } = useQuery(secretsQuery);
  const { data: types = [] } = useQuery(deskTypesQuery);
  const [code, setCode] = useState('');
  const [endpoint, setEndpoint] = useState(subscription?.endpoint ?? 'https://');
  const [secretRef, setSecretRef] = useState<string | null>(subscription?.secretRef ?? null);
  const [executor, setExecutor] = useState<string | null>(subscription?.executionPrincipalId ?? user.id);
  const [kinds, setKinds] = useState<string[]>(subscription?.eventTypes ?? []);
  const [chosen, setChosen] = useState<string[]>(subscription?.filters.types ?? []);
  const [condition, setCondition] = useState(subscription?.filters.condition as Condition | undefined);
  const [maxAttempts, setMaxAttempts] = useState<number | string>(subscription?.retryPolicy.maxAttempts ?? 3);
  const [baseDelayMs, setBaseDelayMs] = useState<number | string>(subscription?.retryPolicy.baseDelayMs ?? 1000);
  const ids = chosen.map((one) => types.find((type) => type.code === one)?.id ?? one);
  const save = useAction({
    run: () => {
      const settings = {
        endpoint: endpoint.trim(),
        secretRef: secretRef ?? '',
        executionPrincipalId: executor ?? '',
        eventTypes: kinds as NewSubscription['eventTypes'],
        filters: {
          ...(ids.length === 0 ? {} : { types: ids }),
          ...(condition === undefined ? {} : { condition }),
        },
        retryPolicy: { maxAttempts: Number(maxAttempts), baseDelayMs: Number(baseDelayMs) },
      };
      return subscription === undefined
        ? call<typeof webhooks.createSubscription>('POST', '/webhooks', {
            body: { ...settings, code: code.trim(), enabled: false },
          })
        : call<typeof webhooks.changeSubscription>('PATCH', `/webhooks/${subscription.id}`, { body: settings });
    },
    touches: [subscriptionsKey],
    done: subscription === undefined ? t.created : t.changed,
    after: onSaved,
    quiet: true,
  });
  const ready =
    (subscription !== undefined || code.trim() !== '') &&
    endpoint.trim().length > 'https://'.length &&
    secretRef !== null &&
    executor !== null &&
    kinds.length > 0 &&
    (condition === undefined || isComplete(condition));
  const usable = (secrets ?? []).filter((one) => one.state === 'ACTIVE' || one.code === secretRef);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (ready) save.mutate();
      }}
    >
      <Stack gap="sm">
        <FaultAlert error={save.error} />
        {subscription === undefined && (
          <TextInput
            label={t.code}
            description={t.codeHint}
            required
            value={code}
            onChange={(event) => setCode(event.currentTarget.value)}
            data-autofocus
          />
        )}
        <TextInput
          label={t.endpoint}
          description={t.endpointHint}
          required
          type="url"
          value={endpoint}
          onChange={(event) => setEndpoint(event.currentTarget.value)}
        />
        <MultiSelect
          label={t.events}
          required
          searchable
          data={EVENT_KINDS.map((kind) => ({ value: kind, label: eventName(events, kind) }))}
          value={kinds}
          onChange={setKinds}
        />
        {secrets !== undefined && usable.length === 0 ? (
          <Alert color="yellow" variant="light">
            {t.noSecrets}
          </Alert>
        ) : (
          <Select
            label={t.secret}
            required
            data={usable.map((one) => one.code)}
            value={secretRef}
            onChange={setSecretRef}
          />
        )}
        <PersonPicker
          label={t.executor}
          description={t.executorHint}
          required
          value={executor}
          onChange={setExecutor}
        />
        <MultiSelect
          label={t.types}
          placeholder={chosen.length === 0 ? t.typesAll : ''}
          searchable
          data={types.map((type) => ({ value: type.id, label: type.name }))}
          value={ids}
          onChange={setChosen}
        />
        <Input.Wrapper label={t.condition} labelElement="div" size="xs">
          <ConditionOf
            types={types.filter((type) => ids.includes(type.id))}
            value={condition}
            onChange={setCondition}
          />
        </Input.Wrapper>
        <Group grow align="flex-start">
          <NumberInput label={t.maxAttempts} min={1} max={10} value={maxAttempts} onChange={setMaxAttempts} />
          <NumberInput label={t.baseDelay} min={1} max={3_600_000} value={baseDelayMs} onChange={setBaseDelayMs} />
        </Group>
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            {t.cancel}
          </Button>
          <Button type="submit" loading={save.isPending} disabled={!ready}>
            {subscription === undefined ? t.saveDisabled : t.save}
          </Button>
        </Group>
      </Stack>
    </form>
  );
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
