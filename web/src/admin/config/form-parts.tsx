/** Inputs shared by the forms of several sections. */
import { SimpleGrid, Textarea, TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import { typeOf } from '../../fields/view.ts';
import { FieldInput } from '../../fields/input.tsx';
import type { FieldInputProps } from '../../fields/one-input.tsx';
import { useLanguage } from '../../i18n/language.ts';
import { useText } from '../../i18n/text.ts';
import { ChooseItem, ChooseItems } from './choices.tsx';
import type { ItemFormProps } from './item-editor.tsx';
import { PartCode } from './part-code.tsx';
import { texts } from './texts.ts';
import { nameIn, type Path } from './yaml-text.ts';

/** Props of a part of an item form. */
export type FormPart = Pick<ItemFormProps, 'item' | 'set'>;

const NAME: Path = ['name'];
const DESCRIPTION: Path = ['description'];
const LOCALES = ['ru-RU', 'en-US'] as const;

/** The value at a path of an item; undefined if missing. */
export function at(item: unknown, path: Path): unknown {
  let value = item;
  for (const step of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined;
    value = (value as Record<string | number, unknown>)[step];
  }
  return value;
}

/** The list of codes at a path; empty if missing. */
export function codesAt(item: unknown, path: Path): string[] {
  const list = at(item, path);
  return Array.isArray(list) ? list.map(String) : [];
}

export function textAt(item: unknown, path: Path): string {
  const value = at(item, path);
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

/** Inputs for a name in both languages. */
export function NameInputs({ item, set, path = NAME, stacked = false }: FormPart & { path?: Path; stacked?: boolean }) {
  const t = useText(texts);
  return <LocalizedInputs item={item} set={set} path={path} ru={t.nameRu} en={t.nameEn} stacked={stacked} />;
}

/** Inputs for a description in both languages. */
export function DescriptionInputs({ item, set }: FormPart) {
  const t = useText(texts);
  return <LocalizedInputs item={item} set={set} path={DESCRIPTION} ru={t.descriptionRu} en={t.descriptionEn} lines />;
}

interface LocalizedInputsProps extends FormPart {
  path: Path;
  ru: string;
  en: string;
  /** True to stack the inputs where space is limited. */
  stacked?: boolean;
  /** True for a text of several lines. */
  lines?: boolean;
}

/** Inputs for a text in both languages. A text that is the same in all languages stays a single string. */
export function LocalizedInputs({ item, set, path, ru, en, stacked = false, lines = false }: LocalizedInputsProps) {
  const value = at(item, path);
  const names = (typeof value === 'object' && value !== null ? value : {}) as Record<string, string>;
  const of = (locale: string): string => (typeof value === 'string' ? value : (names[locale] ?? ''));
  const change = (locale: string, text: string): void => {
    const rest = typeof value === 'string' ? Object.fromEntries(LOCALES.map((one) => [one, value])) : names;
    const next = Object.fromEntries(Object.entries({ ...rest, [locale]: text }).filter(([, one]) => one !== ''));
    set(path, Object.keys(next).length === 0 ? undefined : next);
  };
  const One = lines ? Textarea : TextInput;
  const more = lines ? { autosize: true, minRows: 1, maxRows: 6 } : {};
  return (
    <SimpleGrid cols={stacked ? 1 : { base: 1, xs: 2 }} spacing="sm">
      <One label={ru} value={of('ru-RU')} onChange={(event) => change('ru-RU', event.currentTarget.value)} {...more} />
      <One label={en} value={of('en-US')} onChange={(event) => change('en-US', event.currentTarget.value)} {...more} />
    </SimpleGrid>
  );
}

/** Input for the code of an item. */
export function CodeInput({ item, set, isNew }: ItemFormProps) {
  const t = useText(texts);
  const part = { code: textAt(item, ['code']), was: item['was'] };
  return <PartCode label={t.code} list={[]} part={part} required={isNew} onChange={(code) => set(['code'], code)} />;
}

/** In the configuration, a value is not of one record: everybody is offered. */
export function CodedInput(props: Omit<FieldInputProps, 'place'>): ReactNode {
  const { field, value, onChange, error } = props;
  const section = typeOf(field.dataType).refersTo;
  if (section === undefined || section === 'records') return <FieldInput {...props} place={null} />;
  const shared = {
    section,
    error,
    ...(props.unlabelled === true ? { 'aria-label': field.name } : { label: field.name }),
  };
  if (field.multiple) {
    const list = Array.isArray(value) ? value.map(String) : [];
    return <ChooseItems {...shared} value={list} onChange={(codes) => onChange(codes.length === 0 ? null : codes)} />;
  }
  return <ChooseItem {...shared} value={typeof value === 'string' ? value : null} onChange={onChange} />;
}

interface LocalizedNameProps {
  label: string;
  code: string;
  name: unknown;
  onChange: (name: unknown) => void;
}

/** Changes the name in one language. A single text for all languages becomes one text per language. */
function renamed(name: unknown, language: string, text: string): unknown {
  const names = typeof name === 'object' && name !== null ? { ...name } : {};
  return { ...names, [language]: text };
}

export function LocalizedName({ label, code, name, onChange }: LocalizedNameProps) {
  const language = useLanguage();
  return (
    <TextInput
      aria-label={label}
      value={nameIn(name, language)}
      placeholder={code}
      onChange={(event) => onChange(renamed(name, language, event.currentTarget.value))}
    />
  );
}
