/** Chooses a macro for a record: search, list with keyboard, and a preview of its text and changes. */
import { Modal, Text, TextInput } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { type KeyboardEvent, useId, useState } from 'react';
import type { FieldSchema } from '../../api/types.ts';
import { useText } from '../../i18n/text.ts';
import { FaultAlert } from '../../ui/fault.tsx';
import { Markdown } from '../../ui/markdown.tsx';
import { type Macro, macrosQuery } from '../queries.ts';
import { actionTexts } from './action-texts.ts';
import { MacroChanges } from './chosen-macro.tsx';
import classes from './macros.module.css';

interface MacroPickerProps {
  recordId: string;
  fields: readonly FieldSchema[];
  onChoose: (macro: Macro) => void;
  onClose: () => void;
}

export default function MacroPicker(props: MacroPickerProps) {
  const t = useText(actionTexts);
  return (
    <Modal opened onClose={props.onClose} title={t.chooseMacro} size="xl" returnFocus={false}>
      <Choice {...props} />
    </Modal>
  );
}

/** True if nothing of the macro can be used now. */
function isUnusable({ comment, refused }: Macro): boolean {
  return refused.length > 0 && (comment === null || refused.includes('comment'));
}

function Choice({ recordId, fields, onChoose }: MacroPickerProps) {
  const t = useText(actionTexts);
  const id = useId();
  const [text, setText] = useState('');
  const [cursor, setCursor] = useState(0);
  const { data, error } = useQuery(macrosQuery(recordId));
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const found = (data ?? []).filter(({ name, comment }) =>
    words.every((word) => `${name} ${comment?.body ?? ''}`.toLowerCase().includes(word)),
  );
  const at = Math.min(cursor, found.length - 1);
  const current = found[at];
  const choose = (macro: Macro | undefined): void => {
    if (macro !== undefined && !isUnusable(macro)) onChoose(macro);
  };
  const keys = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) setCursor((at + step + found.length) % Math.max(1, found.length));
    else if (event.key === 'Enter') choose(current);
    else return;
    event.preventDefault();
  };
  return (
    <>
      <FaultAlert error={error} />
      <TextInput
        role="combobox"
        aria-label={t.findMacro}
        aria-expanded
        aria-controls={id}
        aria-activedescendant={current === undefined ? undefined : `${id}-${at}`}
        placeholder={t.findMacro}
        leftSection={<IconSearch size={14} />}
        value={text}
        onChange={(event) => {
          setText(event.currentTarget.value);
          setCursor(0);
        }}
        onKeyDown={keys}
        data-autofocus
      />
      <div className={classes.picker}>
        <Macros id={id} macros={found} at={at} onChoose={choose} onPoint={setCursor} />
        {current !== undefined && <MacroPreview macro={current} fields={fields} recordId={recordId} />}
      </div>
      <Text size="xs" c="dimmed" role="status">
        {data !== undefined && found.length === 0 ? t.noMacros : null}
      </Text>
    </>
  );
}

interface MacrosProps {
  id: string;
  macros: readonly Macro[];
  at: number;
  onChoose: (macro: Macro) => void;
  onPoint: (index: number) => void;
}

function Macros({ id, macros, at, onChoose, onPoint }: MacrosProps) {
  const t = useText(actionTexts);
  return (
    <div role="listbox" id={id} aria-label={t.chooseMacro} className={classes.list}>
      {macros.map((macro, index) => (
        <div
          key={macro.id}
          id={`${id}-${index}`}
          role="option"
          tabIndex={-1}
          aria-selected={index === at}
          aria-disabled={isUnusable(macro) || undefined}
          className={classes.item}
          onClick={() => onChoose(macro)}
          onPointerMove={() => onPoint(index)}
        >
          {macro.name}
        </div>
      ))}
    </div>
  );
}

function MacroPreview({ macro, fields, recordId }: { macro: Macro; fields: readonly FieldSchema[]; recordId: string }) {
  const t = useText(actionTexts);
  const parts = macro.refused.map((part) => t.refused(part)).join(', ');
  return (
    <section className={classes.preview} aria-label={macro.name}>
      {macro.comment === null ? (
        <Text size="sm" c="dimmed">
          {t.macroOpened}
        </Text>
      ) : (
        <Markdown source={macro.comment.body} />
      )}
      <MacroChanges macro={macro} fields={fields} recordId={recordId} />
      {parts !== '' && (
        <Text size="xs" mt="xs" fw={500}>
          {isUnusable(macro) ? t.unusable(parts) : t.notPossible(parts)}
        </Text>
      )}
    </section>
  );
}
