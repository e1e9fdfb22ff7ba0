/** A text field and the options that fit its text; the arrow keys move, Enter chooses. */
import { TextInput } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { type KeyboardEvent, type ReactNode, useId, useState } from 'react';
import classes from './option-list.module.css';

interface OptionsProps<Option> {
  label: string;
  options: readonly Option[];
  keyOf: (option: Option) => string;
  isDisabled?: (option: Option) => boolean;
  render: (option: Option) => ReactNode;
  onChoose: (option: Option) => void;
}

interface OptionListProps<Option> extends OptionsProps<Option> {
  placeholder: string;
  text: string;
  onText: (text: string) => void;
  /** Shown beside the list for the current option. */
  aside?: (option: Option) => ReactNode;
}

/** True if each word of the text occurs in one of the parts, in upper or lower case. */
export function hasWords(text: string, ...parts: readonly string[]): boolean {
  const among = parts.join(' ').toLowerCase();
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => among.includes(word));
}

export function OptionList<Option>(props: OptionListProps<Option>) {
  const { label, options, onText, aside, isDisabled = () => false } = props;
  const id = useId();
  const [cursor, setCursor] = useState(0);
  const at = Math.min(cursor, options.length - 1);
  const current = options[at];
  const choose = (option: Option | undefined): void => {
    if (option !== undefined && !isDisabled(option)) props.onChoose(option);
  };
  const keys = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) setCursor((at + step + options.length) % Math.max(1, options.length));
    else if (event.key === 'Enter') choose(current);
    else return;
    event.preventDefault();
  };
  return (
    <>
      <TextInput
        role="combobox"
        aria-label={label}
        aria-expanded
        aria-controls={id}
        aria-activedescendant={current === undefined ? undefined : `${id}-${at}`}
        placeholder={props.placeholder}
        leftSection={<IconSearch size={14} />}
        value={props.text}
        onChange={(event) => {
          onText(event.currentTarget.value);
          setCursor(0);
        }}
        onKeyDown={keys}
        data-autofocus
      />
      <div className={classes.options} data-aside={aside !== undefined || undefined}>
        <Options {...props} id={id} at={at} onChoose={choose} onPoint={setCursor} />
        {current !== undefined && aside?.(current)}
      </div>
    </>
  );
}

interface ListboxProps<Option> extends OptionsProps<Option> {
  id: string;
  /** Index of the current option, of which the element is `<id>-<index>`. */
  at: number;
  onPoint: (index: number) => void;
}

/** The options for a text field that keeps the focus. */
export function Options<Option>({ id, label, options, at, ...props }: ListboxProps<Option>) {
  return (
    <div role="listbox" id={id} aria-label={label} className={classes.list}>
      {options.map((option, index) => (
        <div
          key={props.keyOf(option)}
          id={`${id}-${index}`}
          role="option"
          tabIndex={-1}
          aria-selected={index === at}
          aria-disabled={props.isDisabled?.(option) || undefined}
          className={classes.item}
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => props.onChoose(option)}
          onPointerMove={() => props.onPoint(index)}
        >
          {props.render(option)}
        </div>
      ))}
    </div>
  );
}
