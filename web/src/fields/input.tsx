/** Input for a value of any data type. Input is validated immediately (`check.ts`). The value has the format of the API. */
import { Loader, MultiSelect, Select } from '@mantine/core';
import { lazy, type ReactNode, Suspense } from 'react';
import type { FieldSchema } from '../api/types.ts';
import { useText } from '../i18n/text.ts';
import { ListInput } from './list-input.tsx';
import { type Common, type FieldInputProps, OneInput } from './one-input.tsx';
import { ManyPicker, namedSource, Picker, recordSource, serviceSource, type Source } from './pickers.tsx';
import type { RichNode } from './rich-text.tsx';
import { texts } from './texts.ts';

const RichTextEditor = lazy(() => import('./rich-text-editor.tsx'));

function sourceOf(field: FieldSchema): Source | undefined {
  switch (field.dataType) {
    case 'user':
    case 'group':
    case 'org-unit':
      return namedSource(field.dataType);
    case 'service':
      return serviceSource;
    case 'reference':
      return recordSource(field.constraints.types);
    default:
      return undefined;
  }
}

export function FieldInput(props: FieldInputProps): ReactNode {
  const { field, value, onChange, error, autoFocus = false } = props;
  const common = {
    ...(props.unlabelled === true ? { 'aria-label': field.name } : { label: field.name }),
    required: field.required,
    error,
    autoFocus,
  };
  const source = sourceOf(field);
  if (source !== undefined) {
    return field.multiple ? (
      <ManyPicker
        source={source}
        {...common}
        value={(value as string[] | null) ?? []}
        onChange={emptyToNull(onChange)}
      />
    ) : (
      <Picker source={source} {...common} value={(value as string | null) ?? null} onChange={onChange} />
    );
  }
  if (field.dataType === 'enum') return <EnumInput {...props} common={common} />;
  if (field.dataType === 'rich-text') {
    return (
      <Suspense fallback={<Loader size="xs" />}>
        <RichTextEditor
          value={(value as RichNode | null) ?? null}
          onChange={onChange}
          label={field.name}
          required={field.required}
          error={error}
          recordId={props.recordId}
          autoFocus={autoFocus}
        />
      </Suspense>
    );
  }
  if (field.multiple && field.dataType !== 'json') return <ListInput {...props} common={common} />;
  return <OneInput {...props} common={common} />;
}

function emptyToNull(onChange: (value: unknown) => void): (list: string[]) => void {
  return (list) => onChange(list.length === 0 ? null : list);
}

function EnumInput({ field, value, onChange, common }: FieldInputProps & { common: Common }) {
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
      {...common}
      {...clear}
      data={data}
      value={(value as string | null) ?? null}
      onChange={onChange}
      searchable={data.length > 7}
      clearable={!field.required}
      placeholder={t.choose}
    />
  );
}
