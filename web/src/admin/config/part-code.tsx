/** Input for the code of an item, or of a part of it: a field, an option, a state. */
import { TextInput } from '@mantine/core';
import { createContext, useContext, useState } from 'react';
import { useText } from '../../i18n/text.ts';
import { type Coded, codesIn, savedCode } from './codes.ts';
import { texts } from './texts.ts';
import type { ItemValue } from './yaml-text.ts';

/** The item as it is stored (`{}` for a new one), and as it is edited. */
export const EditedItem = createContext<{ saved: ItemValue; item: ItemValue }>({ saved: {}, item: {} });

interface PartCodeProps {
  /** The list that holds the part, without indexes: `['fields', 'constraints', 'options']`. Empty for the item itself. */
  list: readonly string[];
  part: Coded;
  /** Codes of the list, if the item has several such lists. */
  siblings?: readonly string[];
  label?: string;
  'aria-label'?: string;
  required?: boolean;
  onChange: (code: string) => void;
}

/** A code that another part has is not passed on: references to both parts could no longer be told apart. */
export function PartCode({ list, part, siblings, onChange, ...rest }: PartCodeProps) {
  const t = useText(texts);
  const { saved, item } = useContext(EditedItem);
  const { code } = part;
  const [refused, setRefused] = useState<{ typed: string; code: string }>();
  const typed = refused?.code === code ? refused.typed : code;
  const before = savedCode(part, codesIn(saved, list));
  const taken = (text: string): boolean => text !== code && (siblings ?? codesIn(item, list)).includes(text);
  return (
    <TextInput
      {...rest}
      value={typed}
      spellCheck={false}
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      description={before === undefined || before === typed ? undefined : t.renamedFrom(before)}
      error={taken(typed) ? t.codeTaken : undefined}
      onChange={({ currentTarget: { value } }) => {
        const keep = taken(value) || (value === '' && before !== undefined);
        setRefused(keep ? { typed: value, code } : undefined);
        if (!keep) onChange(value);
      }}
      onBlur={() => typed === '' && setRefused(undefined)}
    />
  );
}
