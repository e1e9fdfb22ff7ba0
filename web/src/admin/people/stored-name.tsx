/** The name of a group or unit: in both languages for those who may read what is stored, else as it reads here. */
import { TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useHas } from '../../app/session.ts';
import { useText } from '../../i18n/text.ts';
import { NameInputs } from '../config/form-parts.tsx';
import { type LocalizedText, sectionQuery } from '../config/queries.ts';
import { texts } from './texts.ts';

interface StoredNameProps {
  section: 'groups' | 'orgUnits';
  /** Undefined: a new one, which has no name yet. */
  row: { id: string; name: string } | undefined;
  /** What was typed; undefined while it is as it was. */
  value: LocalizedText | undefined;
  disabled?: boolean;
  onChange: (name: LocalizedText) => void;
}

/** Whether a name says something in some language. */
export function isNamed(name: LocalizedText | undefined): name is LocalizedText {
  if (name === undefined) return false;
  return typeof name === 'string' ? name.trim() !== '' : Object.values(name).some((text) => text.trim() !== '');
}

/** The name of something new, which is made with one text. */
export function textOf(name: LocalizedText | undefined): string {
  return typeof name === 'string' ? name : '';
}

export function StoredName({ section, row, value, disabled = false, onChange }: StoredNameProps) {
  const t = useText(texts);
  const has = useHas();
  const both = row !== undefined && has('config.manage');
  const stored = useQuery({ ...sectionQuery(section), enabled: both });
  const before = stored.data?.find((one) => one.id === row?.id)?.name as LocalizedText | undefined;
  // A name in one language would take the place of those in all others.
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
