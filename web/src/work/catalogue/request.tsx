/** Requests a catalog item, for oneself or another user. */
import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { type AnswerOf, ApiFault, call } from '../../api/client.ts';
import type { catalog, FieldSchema } from '../../api/types.ts';
import { useHas, useSession } from '../../app/session.ts';
import { refusalsOf } from '../../desk/record/draft.ts';
import { checkField, isEmpty } from '../../fields/check.ts';
import { FieldInput } from '../../fields/input.tsx';
import { PersonPicker, RecordPicker } from '../../fields/pickers.tsx';
import { useProblemText } from '../../fields/use-problem-text.ts';
import { useText } from '../../i18n/text.ts';
import { useAction } from '../../ui/action.ts';
import { FaultAlert } from '../../ui/fault.tsx';
import { texts } from './texts.ts';

type Item = NonNullable<AnswerOf<typeof catalog.getCatalog>>['items'][number];

export function RequestDialog({ item, onClose }: { item: Item | undefined; onClose: () => void }) {
  return (
    <Modal opened={item !== undefined} onClose={onClose} title={item?.name} size="lg">
      {item !== undefined && <Request key={item.id} item={item} onClose={onClose} />}
    </Modal>
  );
}

function Request({ item, onClose }: { item: Item; onClose: () => void }) {
  const t = useText(texts);
  const problemText = useProblemText();
  const has = useHas();
  const navigate = useNavigate();
  const { user } = useSession();
  const fields = (item.fields as FieldSchema[]).filter((field) => !field.readOnly);
  const [requester, setRequester] = useState<string | null>(user.id);
  const [values, setValues] = useState<Record<string, unknown>>(() =>
    Object.fromEntries(fields.flatMap((field) => (field.default === undefined ? [] : [[field.code, field.default]]))),
  );
  const [asset, setAsset] = useState<string | null>(null);
  const [tried, setTried] = useState(false);
  // One idempotency key per form: a double click creates one request.
  const [key] = useState(() => crypto.randomUUID());
  const problems = new Map(fields.map((field) => [field.code, checkField(field, values[field.code])]));
  const request = useAction({
    run: () =>
      call<typeof catalog.requestItem>('POST', `/catalog/items/${item.id}/requests`, {
        body: {
          requesterId: requester ?? '',
          ...(asset === null ? {} : { assetId: asset }),
          values: Object.fromEntries(Object.entries(values).filter(([, value]) => !isEmpty(value))),
        },
        idempotencyKey: key,
      }),
    touches: [['records']],
    done: t.submitted,
    quiet: true,
  });
  const refusals = refusalsOf(request.error);
  const places = request.error instanceof ApiFault ? request.error.places : [];
  const assetProblem = places.find(({ path }) => path === '/assetId');
  if (request.data !== undefined) {
    const made = request.data;
    return (
      <Stack gap="md">
        <Text role="status">{made.number === null ? t.submitted : t.numbered(made.number)}</Text>
        <Group justify="flex-end" gap="xs">
          <Button
            variant="default"
            onClick={() => void navigate({ to: '/records/$recordId', params: { recordId: made.id } })}
          >
            {t.openRecord}
          </Button>
          <Button onClick={onClose}>{t.done}</Button>
        </Group>
      </Stack>
    );
  }
  const forOthers = has('catalog.impersonate');
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        setTried(true);
        if (requester !== null && [...problems.values()].every((problem) => problem === undefined)) request.mutate();
      }}
    >
      <Stack gap="sm">
        {item.description !== null && (
          <Text size="sm" c="dimmed">
            {item.description}
          </Text>
        )}
        <FaultAlert error={request.error} />
        {forOthers && (
          <PersonPicker
            label={t.forWhom}
            description={t.forWhomHint}
            required
            value={requester}
            onChange={setRequester}
          />
        )}
        {fields.length === 0 && <Text size="sm">{t.noFields}</Text>}
        {fields.map((field) => (
          <FieldInput
            key={field.code}
            field={field}
            value={values[field.code] ?? null}
            onChange={(value) => setValues((before) => ({ ...before, [field.code]: value }))}
            error={refusals.get(field.code) ?? (tried ? problemText(problems.get(field.code)) : undefined)}
          />
        ))}
        {item.assetTypes !== null && (
          <RecordPicker
            label={t.asset}
            description={t.assetHint}
            types={item.assetTypes}
            value={asset}
            onChange={setAsset}
            error={assetProblem?.message}
          />
        )}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            {t.cancel}
          </Button>
          <Button type="submit" loading={request.isPending} disabled={requester === null}>
            {t.submit}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
