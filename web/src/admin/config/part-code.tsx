/** Input for the code of a part of an item: a field, an option, a state. A saved code cannot be changed. */
import { TextInput } from '@mantine/core';
import { createContext, useContext } from 'react';
import { codesIn } from './codes.ts';
import type { ItemValue } from './yaml-text.ts';

/** The item as it is stored; `{}` for a new one. */
export const SavedItem = createContext<ItemValue>({});

interface PartCodeProps {
  /** The list that holds the part, without indexes: `['fields', 'constraints', 'options']`. */
  list: readonly string[];
  code: string;
  label?: string;
  'aria-label'?: string;
  onChange: (code: string) => void;
}

export function PartCode({ list, code, onChange, ...rest }: PartCodeProps) {
  const saved = codesIn(useContext(SavedItem), list).includes(code);
  return (
    <TextInput
      {...rest}
      value={code}
      disabled={saved}
      spellCheck={false}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}
