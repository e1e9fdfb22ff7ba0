/** Input for a name in a list, in the language of the console. The other language is kept. */
import { TextInput } from '@mantine/core';
import { useLanguage } from '../../i18n/language.ts';
import { nameIn } from './yaml-text.ts';

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
