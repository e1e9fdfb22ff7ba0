/**
 * Input for the name of a group or unit: in both languages if the user may read the stored names, else only in the current one.
 */
import { TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useHas } from '../../app/session.ts';
import { useText } from '../../i18n/text.ts';
import { NameInputs } from '../config/form-parts.tsx';
import { type LocalizedText, sectionQuery } from '../config/queries.ts';
import { texts } from './texts.ts';

interface StoredNameProps {
  section: 'groups' | 'orgUnits';
  /** Undefined for a new item, which has no name yet. */
  row: { id: string; name: string } | undefined;
  /** The typed name; undefined if unchanged. */
  value: LocalizedText | undefined;
  disabled?: boolean;
  onChange: (name: LocalizedText) => void;
}

/** True if the name is not blank in at least one language. */
export function isNamed(name: LocalizedText | undefined): name is LocalizedText {
  if (name === undefined) return false;
  return typeof name === 'string' ? name.trim() !== '' : Object.values(name).some((text) => text.trim() !== '');
}

/** The name of a new item, which is created with a single text. */
export function textOf(name: LocalizedText | undefined): string {
  return typeof name === 'string' ? name : '';
}

export function StoredName({ section, row, value, disabled = false, onChange }: StoredNameProps) {
  const t = useText(texts);
  const has = useHas();
  const both = row !== undefined && has('config.manage');
  const stored = useQuery({ ...sectionQuery(section), enabled: both });
  const before = stored.data?.find((one) => one.id === row?.id)?.name as LocalizedText | undefined;
  // A name in one language would replace those in all others.
  if (both && !disabled && before !== undefined) {
    return (
      <NameInputs
        stacked
        item={{ name: value ?? before }}
        set={(_path, name) => onChange((name ?? '') as LocalizedText)}
      />
    );
  }
  return (
    <TextInput
      label={t.name}
      value={typeof value === 'string' ? value : (row?.name ?? '')}
      required
      disabled={disabled || both}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}
