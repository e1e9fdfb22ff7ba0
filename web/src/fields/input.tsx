/** Input for a value of any data type. Input is validated immediately (`check.ts`). The value has the format of the API. */
import { Loader, MultiSelect, Select } from '@mantine/core';
import { lazy, type ReactNode, Suspense } from 'react';
import type { Referent } from '../../../src/lib/data-types/index.ts';
import type { FieldSchema } from '../api/types.ts';
import { useText } from '../i18n/text.ts';
import { usePeopleSource } from './assignee-source.ts';
import { ListInput } from './list-input.tsx';
import { type Common, type FieldInputProps, type LabelledInputProps, OneInput } from './one-input.tsx';
import { ManyPicker, namedSource, Picker, recordSource, serviceSource, type Source } from './pickers.tsx';
import type { RichNode } from './rich-text.tsx';
import { texts } from './texts.ts';
import { typeOf } from './view.ts';

const RichTextEditor = lazy(() => import('./rich-text-editor.tsx'));

const SOURCES = {
  records: (field) => recordSource(field.constraints.types),
  groups: () => namedSource('group'),
  orgUnits: () => namedSource('org-unit'),
  services: () => serviceSource,
} satisfies Record<Exclude<Referent, 'users'>, (field: FieldSchema) => Source>;

export function FieldInput(props: FieldInputProps): ReactNode {
  const { field, error, autoFocus = false } = props;
  const common = {
    ...(props.unlabelled === true ? { 'aria-label': field.name } : { label: field.name }),
    ...(props.unlabelled === true || field.description === undefined ? {} : below(field.description)),
    required: field.required,
    error,
    autoFocus,
  };
  const { view, refersTo, document = false } = typeOf(field.dataType);
  if (refersTo === 'users') return <PeopleInput {...props} common={common} />;
  if (refersTo !== undefined) return <ReferenceInput {...props} common={common} source={SOURCES[refersTo](field)} />;
  if (view === 'choice') return <EnumInput {...props} common={common} />;
  if (view === 'rich-text') return <RichTextInput {...props} common={common} />;
  if (field.multiple && !document) return <ListInput {...props} common={common} />;
  return <OneInput {...props} common={common} />;
}

/** Help stands below the input, so that inputs in one row are level. */
function below(description: string): Pick<Common, 'description' | 'inputWrapperOrder'> {
  return { description, inputWrapperOrder: ['label', 'input', 'description', 'error'] };
}

function ReferenceInput({ field, value, onChange, common, source }: LabelledInputProps & { source: Source }) {
  return field.multiple ? (
    <ManyPicker source={source} {...common} value={(value as string[] | null) ?? []} onChange={emptyToNull(onChange)} />
  ) : (
    <Picker source={source} {...common} value={(value as string | null) ?? null} onChange={onChange} />
  );
}

function PeopleInput(props: LabelledInputProps) {
  return <ReferenceInput {...props} source={usePeopleSource(props.place, props.field)} />;
}

function RichTextInput({ field, value, onChange, place, common }: LabelledInputProps) {
  return (
    <Suspense fallback={<Loader size="xs" />}>
      <RichTextEditor
        value={(value as RichNode | null) ?? null}
        onChange={onChange}
        label={field.name}
        description={common.description}
        required={field.required}
        error={common.error}
        recordId={place !== null && 'objectId' in place ? place.objectId : undefined}
        autoFocus={common.autoFocus}
      />
    </Suspense>
  );
}

function emptyToNull(onChange: (value: unknown) => void): (list: string[]) => void {
  return (list) => onChange(list.length === 0 ? null : list);
}

function EnumInput({ field, value, onChange, common, opened = false }: LabelledInputProps) {
  const t = useText(texts);
  const data = (field.constraints.options ?? []).map(({ code, name }) => ({ value: code, label: name }));
  const clear = { clearButtonProps: { 'aria-label': t.clear } };
  if (field.multiple) {
    return (
      <MultiSelect
        {...common}
        {...clear}
        data={data}
        value={(value as string[] | null) ?? []}
        onChange={emptyToNull(onChange)}
        searchable
        clearable
      />
    );
  }
  return (
    <Select
      defaultDropdownOpened={opened}
      {...common}
      {...clear}
      data={data}
      value={(value as string | null) ?? null}
      onChange={onChange}
      searchable={data.length > 7}
      clearable={!field.required}
      allowDeselect={false}
      placeholder={t.choose}
    />
  );
}
