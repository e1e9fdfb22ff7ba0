/** Requests a catalog item, for oneself or another user. */
import { Button, Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { type AnswerOf, ApiFault, call, dryRun } from '../../api/client.ts';
import type { catalog, FieldSchema } from '../../api/types.ts';
import { useHas, useSession } from '../../app/session.ts';
import { deskTypesQuery } from '../../desk/queries.ts';
import { refusalsOf } from '../../desk/record/draft.ts';
import { FormFileList, FormFilesZone, useFormFiles } from '../../desk/record/form-files.tsx';
import { type NewValues, useNewValues } from '../../desk/record/schema.ts';
import { WhatIf } from '../../desk/what-if.tsx';
import type { Tried } from '../../desk/what-if-answer.tsx';
import { FieldInput } from '../../fields/input.tsx';
import { PersonPicker, RecordPicker } from '../../fields/pickers.tsx';
import { useText } from '../../i18n/text.ts';
import { useAction } from '../../ui/action.ts';
import { useDeviceDraft } from '../../ui/device-draft.ts';
import { FaultAlert } from '../../ui/fault.tsx';
import { DraftRestored } from '../../ui/form.tsx';
import { useOnlyAsset } from './only-asset.ts';
import { texts } from './texts.ts';
import { Dialog } from '../../ui/dialog.tsx';

type Item = NonNullable<AnswerOf<typeof catalog.getCatalog>>['items'][number];

export function RequestDialog({ item, onClose }: { item: Item | undefined; onClose: () => void }) {
  return (
    <Dialog opened={item !== undefined} onClose={onClose} title={item?.name} size="lg">
      {item !== undefined && <RequestForm key={item.id} item={item} onClose={onClose} />}
    </Dialog>
  );
}

interface RequestFormProps {
  item: Item;
  onClose: () => void;
  /** Called with the request that was made. Without it, the form shows its number. */
  onSent?: (request: Requested) => void;
  /** Called with the values after each change. */
  onValues?: (values: Record<string, unknown>) => void;
}

export function RequestForm({ item, onClose, onSent, onValues }: RequestFormProps) {
  const t = useText(texts);
  const { user } = useSession();
  const fields = (item.fields as FieldSchema[]).filter((field) => !field.readOnly);
  const [requester, setRequester] = useState<string | null>(user.id);
  const [chosen, setAsset] = useState<string | null>();
  const only = useOnlyAsset(item.assetTypes ?? []);
  const asset = chosen === undefined ? (requester === user.id ? only : null) : chosen;
  const values = useNewValues(useNamed(fields, item.name), useDeviceDraft(`request.${item.id}`));
  const { data: types = [] } = useQuery(deskTypesQuery);
  const mayAttach = types.some(({ canAttach }) => canAttach);
  const files = useFormFiles();
  const request = useRequest(item, { requester, asset, values: values.given }, (sent) => {
    values.reset();
    files.upload(sent.id);
    onSent?.(sent);
  });
  const places = request.error instanceof ApiFault ? request.error.places : [];
  if (request.data !== undefined && onSent === undefined) return <Submitted record={request.data} onClose={onClose} />;
  return (
    <FormFilesZone enabled={mayAttach} files={files}>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (values.check() && requester !== null) request.mutate();
        }}
      >
        <Stack gap="sm">
          {item.description !== null && (
            <Text size="sm" c="dimmed">
              {item.description}
            </Text>
          )}
          {values.restored && <DraftRestored onDiscard={values.reset} />}
          <FaultAlert error={request.error} />
          <ForWhom value={requester} onChange={setRequester} />
          {fields.length === 0 && <Text size="sm">{t.noFields}</Text>}
          <FormInputs fields={fields} values={values} onValues={onValues} rejected={refusalsOf(request.error)} />
          {item.assetTypes !== null && (
            <RecordPicker
              label={t.asset}
              description={t.assetHint}
              types={item.assetTypes}
              value={asset}
              onChange={setAsset}
              error={places.find(({ path }) => path === '/assetId')?.message}
            />
          )}
          {mayAttach && <FormFileList files={files} />}
          <RequestEnd
            key={JSON.stringify([requester, asset, values.given])}
            preview={requester === null || !values.isComplete ? undefined : request.preview}
            pending={request.isPending}
            disabled={requester === null}
            onCancel={onClose}
          />
        </Stack>
      </form>
    </FormFilesZone>
  );
}

interface ForWhomProps {
  value: string | null;
  onChange: (next: string | null) => void;
}

/** The requester, for users who may request for others. */
function ForWhom({ value, onChange }: ForWhomProps) {
  const t = useText(texts);
  if (!useHas()('catalog.impersonate')) return null;
  return <PersonPicker label={t.forWhom} description={t.forWhomHint} required value={value} onChange={onChange} />;
}

/** The fields; a required title has the name of the item, so that an ordinary request needs no typing. */
function useNamed(fields: readonly FieldSchema[], name: string): readonly FieldSchema[] {
  const { data: types = [] } = useQuery(deskTypesQuery);
  const titles = new Set(types.map(({ titleField }) => titleField));
  return fields.map((field) =>
    titles.has(field.code) && field.required && field.default === undefined && field.dataType === 'string'
      ? { ...field, default: name.slice(0, field.constraints.maxLength ?? name.length) }
      : field,
  );
}

interface FormInputsProps {
  fields: readonly FieldSchema[];
  values: NewValues;
  /** What the service found wrong, by field. */
  rejected: ReadonlyMap<string, string>;
  onValues?: RequestFormProps['onValues'];
}

function FormInputs({ fields, values, rejected, onValues }: FormInputsProps) {
  return fields.map((field) => (
    <FieldInput
      // Some inputs read their value once: discarding the draft needs new ones.
      key={`${field.code} ${values.restored}`}
      field={field}
      value={values.value(field.code)}
      onChange={(value) => {
        values.set(field.code, value);
        onValues?.({ ...values.given, [field.code]: value });
      }}
      error={values.error(field.code, rejected)}
      place={null}
    />
  ));
}

interface RequestEndProps {
  preview: (() => Promise<Tried>) | undefined;
  pending: boolean;
  disabled: boolean;
  onCancel: () => void;
}

/** The preview and the buttons. */
function RequestEnd({ preview, pending, disabled, onCancel }: RequestEndProps) {
  const t = useText(texts);
  return (
    <>
      <WhatIf ask={preview} typeId={undefined} />
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onCancel}>
          {t.cancel}
        </Button>
        <Button type="submit" loading={pending} disabled={disabled}>
          {t.submit}
        </Button>
      </Group>
    </>
  );
}

interface RequestBody {
  requester: string | null;
  asset: string | null;
  values: Record<string, unknown>;
}

function useRequest(item: Item, { requester, asset, values }: RequestBody, after: (request: Requested) => void) {
  const t = useText(texts);
  // One idempotency key per form: a double click creates one request.
  const [key] = useState(() => crypto.randomUUID());
  const path = `/catalog/items/${item.id}/requests`;
  const body = { requesterId: requester ?? '', ...(asset === null ? {} : { assetId: asset }), values };
  const send = useAction({
    run: () => call<typeof catalog.requestItem>('POST', path, { body, idempotencyKey: key }),
    touches: [['records']],
    done: t.submitted,
    quiet: true,
    after,
  });
  const preview = async (): Promise<Tried> => {
    const { data, effects } = await dryRun<typeof catalog.requestItem>('POST', path, { body });
    return { effects, created: data };
  };
  return { ...send, preview };
}

type Requested = AnswerOf<typeof catalog.requestItem>;

function Submitted({ record, onClose }: { record: Requested; onClose: () => void }) {
  const t = useText(texts);
  const navigate = useNavigate();
  const open = (): void => void navigate({ to: '/records/$recordId', params: { recordId: record.id } });
  return (
    <Stack gap="md">
      <Text role="status">{record.number === null ? t.submitted : t.numbered(record.number)}</Text>
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={open}>
          {t.openRecord}
        </Button>
        <Button onClick={onClose}>{t.done}</Button>
      </Group>
    </Stack>
  );
}
