/** A name within a list, in the language of the console; the other language stays as it was written. */
import { TextInput } from '@mantine/core';
import { useLanguage } from '../../i18n/language.ts';
import { nameIn } from './yaml-text.ts';

interface LocalizedNameProps {
  label: string;
  code: string;
  name: unknown;
  onChange: (name: unknown) => void;
}

/** A name with one language changed; one that was the same in all becomes one for each. */
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
