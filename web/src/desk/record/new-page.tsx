/** Form for a new record: required fields first. */
import { Button, Group, Loader, Stack } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { type SyntheticEvent, useState } from 'react';
import { NotFoundPage } from '../../app/error-pages.tsx';
import { call } from '../../api/client.ts';
import type { FieldSchema, objects } from '../../api/types.ts';
import { FieldInput } from '../../fields/input.tsx';
import { useText } from '../../i18n/text.ts';
import { useAction } from '../../ui/action.ts';
import { useDeviceDraft } from '../../ui/device-draft.ts';
import { DraftRestored } from '../../ui/form.tsx';
import { FaultAlert } from '../../ui/fault.tsx';
import { Page } from '../../ui/page.tsx';
import { type DeskType, deskTypesQuery, recordQuery, typeFieldsQuery } from '../queries.ts';
import { texts } from '../texts.ts';
import { refusalsOf } from './draft.ts';
import { FormSections } from './form-sections.tsx';
import { type NewValues, useNewValues } from './schema.ts';

export function NewRecordPage() {
  const { typeCode } = useParams({ from: '/inside/new/$typeCode' });
  const { data: types } = useQuery(deskTypesQuery);
  const type = types?.find((one) => one.code === typeCode);
  const schema = useQuery({ ...typeFieldsQuery(type?.id ?? ''), enabled: type !== undefined });
  if (types !== undefined && type?.canCreate !== true) return <NotFoundPage />;
  if (type === undefined || schema.data === undefined) return <Loader m="xl" size="sm" />;
  return <NewRecord key={type.id} type={type} fields={schema.data.fields as FieldSchema[]} />;
}

function NewRecord({ type, fields }: { type: DeskType; fields: readonly FieldSchema[] }) {
  const t = useText(texts);
  const writable = fields.filter((field) => !field.readOnly);
  const values = useNewValues(writable, useDeviceDraft(`new.${type.id}`));
  const [form, setForm] = useState(0);
  const create = useCreate(type, values);
  const rejected = refusalsOf(create.error);
  const submit = (another: boolean): void => {
    if (values.check()) create.mutate(another);
  };
  const discard = (): void => {
    values.reset();
    setForm(form + 1);
  };
  useHotkeys([['mod+Enter', () => submit(false)]], []);
  const input = (field: FieldSchema, index: number) => (
    <FieldInput
      // Some inputs read their value once: discarding the draft needs new ones.
      key={`${field.code} ${form}`}
      field={field}
      value={values.value(field.code)}
      onChange={(value) => {
        values.set(field.code, value);
        create.change();
      }}
      error={values.error(field.code, rejected)}
      place={{ typeId: type.id }}
      autoFocus={index === 0}
    />
  );
  return (
    <Page title={t.newRecord(type.name)} {...(type.description === null ? {} : { hint: type.description })} narrow>
      <form
        noValidate
        onSubmit={(event: SyntheticEvent) => {
          event.preventDefault();
          submit(false);
        }}
      >
        <Stack gap="md">
          {values.restored && <DraftRestored onDiscard={discard} />}
          {create.isError && rejected.size === 0 && <FaultAlert error={create.error} />}
          <FormSections fields={writable} type={type} input={input} />
          <CreateButtons pending={create.isPending} onAnother={() => submit(true)} />
        </Stack>
      </form>
    </Page>
  );
}

function CreateButtons({ pending, onAnother }: { pending: boolean; onAnother: () => void }) {
  const t = useText(texts);
  return (
    <Group gap="xs" justify="flex-end">
      <Button variant="default" onClick={onAnother} disabled={pending}>
        {t.createAnother}
      </Button>
      <Button type="submit" loading={pending} title="Ctrl+Enter">
        {t.create}
      </Button>
    </Group>
  );
}

/** Creates the record and opens it, or, with `another`, empties the form for the next one. */
function useCreate(type: DeskType, values: NewValues) {
  const t = useText(texts);
  const navigate = useNavigate();
  const client = useQueryClient();
  // One idempotency key per form: a double click or a retry after a lost answer creates one record.
  const [key, setKey] = useState(() => crypto.randomUUID());
  const create = useAction({
    run: (_another: boolean) =>
      call<typeof objects.createObject>('POST', '/objects', {
        body: { typeDefinitionId: type.id, values: values.given },
        idempotencyKey: key,
      }),
    touches: [['records']],
    done: (record) => `${t.created}: ${record.number ?? record.title ?? ''}`,
    quiet: true,
    after: async (record, another) => {
      setKey(crypto.randomUUID());
      values.reset();
      if (another) return;
      client.setQueryData(recordQuery(record.id).queryKey, record);
      await navigate({ to: '/records/$recordId', params: { recordId: record.id } });
    },
  });
  /** Call it on a change of the form: after an error, the next attempt is a new request. */
  const change = (): void => {
    if (!create.isError) return;
    create.reset();
    setKey(crypto.randomUUID());
  };
  return { ...create, change };
}
