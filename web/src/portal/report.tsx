/** Forms of the portal: reporting a problem, and requesting an item of the catalogue. */
import { Button, Loader, Stack, Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode, useEffect, useEffectEvent, useState } from 'react';
import { NotFoundPage } from '../app/error-pages.tsx';
import { useSession } from '../app/session.ts';
import { call } from '../api/client.ts';
import type { FieldSchema, objects } from '../api/types.ts';
import { type DeskType, deskTypesQuery, recordQuery, typeFieldsQuery } from '../desk/queries.ts';
import { refusalsOf } from '../desk/record/draft.ts';
import { FormFileList, FormFilesZone, useFormFiles } from '../desk/record/form-files.tsx';
import { FormSections } from '../desk/record/form-sections.tsx';
import { type NewValues, recordLayout, useNewValues } from '../desk/record/schema.ts';
import { isEmpty } from '../fields/check.ts';
import { FieldInput } from '../fields/input.tsx';
import { useLanguage } from '../i18n/language.ts';
import { useText } from '../i18n/text.ts';
import { useAction } from '../ui/action.ts';
import { useDeviceDraft } from '../ui/device-draft.ts';
import { Empty } from '../ui/empty.tsx';
import { FaultAlert } from '../ui/fault.tsx';
import { DraftRestored } from '../ui/form.tsx';
import { Page, Panel } from '../ui/page.tsx';
import { useOnlyAsset } from '../work/catalogue/only-asset.ts';
import { RequestForm } from '../work/catalogue/request.tsx';
import { requestTypes } from './access.ts';
import { HelpResults } from './help-search.tsx';
import classes from './portal.module.css';
import { catalogueQuery, useHelp } from './queries.ts';
import { texts } from './texts.ts';

/** Fields that are filled in when a request is finished. */
const LATER: ReadonlySet<string> = new Set(['rating', 'ratingComment']);

/** The type for problems: `incident`, or the first type of which the user may create records. */
function problemType(types: readonly DeskType[]): DeskType | undefined {
  const creatable = requestTypes(types).filter((type) => type.canCreate);
  return creatable.find((type) => type.code === 'incident') ?? creatable[0];
}

export function ReportPage() {
  const t = useText(texts);
  const { data: types } = useQuery(deskTypesQuery);
  const type = problemType(types ?? []);
  const schema = useQuery({ ...typeFieldsQuery(type?.id ?? ''), enabled: type !== undefined });
  if (types !== undefined && type === undefined) return <Empty>{t.noType}</Empty>;
  if (type === undefined || schema.data === undefined) return <Loader m="xl" size="sm" />;
  const fields = (schema.data.fields as FieldSchema[]).filter((field) => !field.readOnly && !LATER.has(field.code));
  return <Report key={type.id} type={type} fields={fields} />;
}

/** The only field of a single user: the user reports for themselves. */
function requesterField(fields: readonly FieldSchema[]): FieldSchema | undefined {
  const users = fields.filter((field) => field.dataType === 'user' && !field.multiple);
  return users.length === 1 ? users[0] : undefined;
}

/** The fields with the values that the form starts with: the user as the requester, and the title of the link. */
function usePrefilled(type: DeskType, fields: readonly FieldSchema[], requester: FieldSchema | undefined) {
  const { user } = useSession();
  const { title } = useSearch({ from: '/inside/portal/$' });
  const [prefilled] = useState(() =>
    fields.map((field) => {
      if (field === requester && user.id !== null) return { ...field, default: user.id };
      return field.code === type.titleField && title !== undefined ? { ...field, default: title } : field;
    }),
  );
  return prefilled;
}

/** Fills in a required field for a record while it is empty, if the user has only one that fits. */
function useOnlyRecord(fields: readonly FieldSchema[], { value, set }: Pick<NewValues, 'value' | 'set'>): void {
  const field = fields.find(({ dataType, required }) => dataType === 'reference' && required);
  const only = useOnlyAsset(field?.constraints.types ?? []);
  const fill = useEffectEvent((id: string) => {
    if (field !== undefined && isEmpty(value(field.code))) set(field.code, field.multiple ? [id] : id);
  });
  useEffect(() => {
    if (only !== null) fill(only);
  }, [only]);
}

function Report({ type, fields }: { type: DeskType; fields: readonly FieldSchema[] }) {
  const t = useText(texts);
  const requester = requesterField(fields);
  const prefilled = usePrefilled(type, fields, requester);
  // A link with a title starts another report.
  const { title: linked = '' } = useSearch({ from: '/inside/portal/$' });
  const values = useNewValues(prefilled, useDeviceDraft(`report.${type.id}.${linked}`));
  useOnlyRecord(fields, values);
  const files = useFormFiles();
  const report = useReport(type, values, files.upload);
  const rejected = refusalsOf(report.error);
  const own = prefilled.filter((field) => field.code !== requester?.code);
  // Without a layout, the optional fields are folded away.
  const folded = type.layout.length === 0 ? recordLayout(own, type).short.filter((field) => !field.required) : [];
  const input = (field: FieldSchema) => (
    <FieldInput
      // Some inputs read their value once: discarding the draft needs new ones.
      key={`${field.code} ${values.restored}`}
      field={field}
      value={values.value(field.code)}
      onChange={(value) => {
        values.set(field.code, value);
        report.change();
      }}
      error={values.error(field.code, rejected)}
      place={{ typeId: type.id }}
    />
  );
  const words = values.value(type.titleField ?? '');
  return (
    <Page title={t.report} hint={t.reportHint}>
      <div className={classes.writing}>
        <FormFilesZone enabled={type.canAttach} files={files}>
          <form
            noValidate
            onSubmit={(event) => {
              event.preventDefault();
              if (values.check()) report.mutate();
            }}
          >
            <Stack gap="md">
              {values.restored && <DraftRestored onDiscard={values.reset} />}
              {report.isError && rejected.size === 0 && <FaultAlert error={report.error} />}
              <Requester field={requester} />
              <FormSections fields={own.filter((field) => !folded.includes(field))} type={type} input={input} />
              {folded.length > 0 && <More>{folded.map(input)}</More>}
              {type.canAttach && <FormFileList files={files} />}
              <Button type="submit" size="md" loading={report.isPending}>
                {t.send}
              </Button>
            </Stack>
          </form>
        </FormFilesZone>
        <Similar words={typeof words === 'string' ? words : ''} />
      </div>
    </Page>
  );
}

function More({ children }: { children: ReactNode }) {
  const t = useText(texts);
  return (
    <details className={classes.more}>
      <summary>{t.more}</summary>
      <Stack gap="sm">{children}</Stack>
    </details>
  );
}

function Requester({ field }: { field: FieldSchema | undefined }) {
  const { user } = useSession();
  if (field === undefined) return null;
  return (
    <Text size="sm">
      {field.name}: <b>{user.displayName}</b>
    </Text>
  );
}

function useReport(type: DeskType, { given, reset }: NewValues, upload: (recordId: string) => void) {
  const t = useText(texts);
  const navigate = useNavigate();
  const client = useQueryClient();
  // One idempotency key per content of the form: a double click creates one record.
  const [key, setKey] = useState(() => crypto.randomUUID());
  const report = useAction({
    run: () => createReport(type.id, given, key),
    touches: [['records']],
    done: t.sent,
    quiet: true,
    after: async (record) => {
      reset();
      upload(record.id);
      client.setQueryData(recordQuery(record.id).queryKey, record);
      await navigate({ to: '/portal/$', params: { _splat: `requests/${record.id}` } });
    },
  });
  return { ...report, change: () => setKey(crypto.randomUUID()) };
}

function createReport(typeDefinitionId: string, values: Record<string, unknown>, idempotencyKey: string) {
  return call<typeof objects.createObject>('POST', '/objects', { body: { typeDefinitionId, values }, idempotencyKey });
}

/** What is searched for while an item is requested: the first text that the user gave, else the name of the item. */
function wordsOf(name: string, values: Record<string, unknown>): string {
  const given = Object.values(values).find((value) => typeof value === 'string' && value.trim() !== '');
  return typeof given === 'string' ? given.slice(0, 200) : name;
}

/** Articles, items and own open requests like the one that is being written. */
function Similar({ words, except }: { words: string; except?: string }) {
  const t = useText(texts);
  const found = useHelp(words);
  const help = {
    ...found,
    items: found.items.filter(({ id }) => id !== except),
    requests: found.requests.filter(({ workflowState }) => workflowState?.category !== 'done'),
  };
  if (help.articles.length + help.items.length + help.requests.length === 0) return null;
  const few = {
    ...help,
    articles: help.articles.slice(0, 3),
    items: help.items.slice(0, 2),
    requests: help.requests.slice(0, 2),
  };
  return (
    <section className={classes.similar} aria-label={t.similar}>
      <b>{t.similar}</b>
      <HelpResults help={few} label={t.similar} />
    </section>
  );
}

/** The form of an item of the catalogue. */
export function ItemPage({ id }: { id: string }) {
  const t = useText(texts);
  const navigate = useNavigate();
  const { data: whole, isPending } = useQuery(catalogueQuery(useLanguage()));
  const item = whole?.items.find((one) => one.id === id);
  const [words, setWords] = useState<string>();
  if (isPending) return <Loader m="xl" size="sm" />;
  if (item === undefined) return <NotFoundPage />;
  const go = (splat: string): void => void navigate({ to: '/portal/$', params: { _splat: splat } });
  return (
    <Page title={item.name} back={{ label: t.back, href: '/portal' }}>
      <div className={classes.writing}>
        <Panel>
          <RequestForm
            item={item}
            onClose={() => go('')}
            onSent={(record) => go(`requests/${record.id}`)}
            onValues={(values) => setWords(wordsOf(item.name, values))}
          />
        </Panel>
        <Similar words={words ?? item.name} except={item.id} />
      </div>
    </Page>
  );
}
