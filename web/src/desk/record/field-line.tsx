/** A field of a record. Clicking the value opens an input if the user may change it. */
import { ActionIcon, Button, Group } from '@mantine/core';
import { IconPencil, IconPlus } from '@tabler/icons-react';
import { type KeyboardEvent, type MouseEvent, useState } from 'react';
import type { FieldSchema } from '../../api/types.ts';
import { FieldInput } from '../../fields/input.tsx';
import { useProblemText } from '../../fields/use-problem-text.ts';
import { FieldValue } from '../../fields/value.tsx';
import { typeOf } from '../../fields/view.ts';
import { useText } from '../../i18n/text.ts';
import { texts } from '../texts.ts';
import type { RecordDraft } from './draft.ts';
import classes from './record.module.css';

export interface FieldLineProps {
  field: FieldSchema;
  draft: RecordDraft;
  recordId: string;
  /** True if the user may change this record. */
  mayUpdate: boolean;
  /** Starts with the input. */
  asked?: boolean;
}

/** True if a click chooses the whole value, which is then saved at once. */
function isChosen({ dataType, multiple }: FieldSchema): boolean {
  const { view } = typeOf(dataType);
  return !multiple && (view === 'choice' || view === 'reference');
}

export function FieldLine({ field, draft, recordId, mayUpdate, asked = false }: FieldLineProps) {
  const t = useText(texts);
  const problemText = useProblemText();
  const [open, setOpen] = useState(asked);
  const writable = mayUpdate && !field.readOnly;
  const changed = draft.has(field.code);
  const error = problemText(draft.problems.get(field.code)) ?? draft.refusals.get(field.code);
  const editing = writable && (open || changed);
  const change = (next: unknown): void => {
    const chosen = isChosen(field);
    setOpen(!chosen);
    (chosen ? draft.pick : draft.set)(field.code, next);
  };
  const openBy = (event: MouseEvent): void => {
    // Clicking a link follows it, and selecting text does not open the input.
    const target = event.target as HTMLElement;
    if (writable && target.closest('a, button') === null && window.getSelection()?.toString() === '') setOpen(true);
  };
  const keys = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') {
      event.stopPropagation();
      setOpen(false);
      draft.set(field.code, draft.base.values[field.code] ?? null);
    }
  };
  return (
    <div className={classes.line} data-changed={changed || undefined} data-field={field.code}>
      {editing ? (
        <div className={classes.input} onKeyDown={keys} onBlur={() => setOpen(false)} role="presentation">
          <FieldInput
            field={field}
            value={draft.value(field.code)}
            onChange={change}
            error={error}
            place={{ objectId: recordId }}
            autoFocus={open}
            opened={open}
          />
        </div>
      ) : (
        <>
          <div className={classes.name}>{field.name}</div>
          <div className={classes.value} data-writable={writable || undefined} onClick={openBy} role="presentation">
            <FieldValue field={field} value={draft.value(field.code)} recordId={recordId} />
            {writable && (
              <ActionIcon
                className={classes.pencil}
                size="xs"
                onClick={() => setOpen(true)}
                aria-label={t.editField(field.name)}
              >
                <IconPencil size={13} />
              </ActionIcon>
            )}
          </div>
        </>
      )}
    </div>
  );
}

interface EmptyFieldsProps {
  fields: readonly FieldSchema[];
  onAsk: (code: string) => void;
}

/** Buttons that open the inputs of fields without a value. */
export function EmptyFields({ fields, onAsk }: EmptyFieldsProps) {
  const t = useText(texts);
  return (
    <Group gap={4} mt="xs">
      {fields.map(({ code, name }) => (
        <Button
          key={code}
          variant="subtle"
          size="compact-xs"
          leftSection={<IconPlus size={12} />}
          aria-label={t.addField(name)}
          onClick={() => onAsk(code)}
        >
          {name}
        </Button>
      ))}
    </Group>
  );
}
