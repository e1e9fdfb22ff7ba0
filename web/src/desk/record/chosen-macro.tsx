/** What a macro changes beside its comment, and the macro that is chosen in the composer with the values it still needs. */
import { ActionIcon, Badge, Group } from '@mantine/core';
import { IconBolt, IconX } from '@tabler/icons-react';
import type { DocketRecord, FieldSchema } from '../../api/types.ts';
import { checkField, isEmpty } from '../../fields/check.ts';
import { FieldInput } from '../../fields/input.tsx';
import { useProblemText } from '../../fields/use-problem-text.ts';
import { FieldValue } from '../../fields/value.tsx';
import { useText } from '../../i18n/text.ts';
import type { Macro } from '../queries.ts';
import { texts } from '../texts.ts';
import { actionTexts } from './action-texts.ts';
import classes from './macros.module.css';
import { transitionField } from './transition-fields.ts';

interface MacroProps {
  macro: Macro;
  fields: readonly FieldSchema[];
}

/** True if the macro changes the record, and the caller may do so now. */
export function changesRecord({ transition, set, refused }: Macro): boolean {
  return refused.length === 0 && (transition !== null || Object.keys(set).length > 0);
}

export function MacroChanges({ macro, fields, recordId }: MacroProps & { recordId: string }) {
  const t = useText(actionTexts);
  const desk = useText(texts);
  const set = Object.entries(macro.set);
  if (macro.transition === null && set.length === 0) return null;
  return (
    <Group gap={6} mt="xs">
      {macro.transition !== null && (
        <Badge variant="light" tt="none">
          {t.moves(macro.transition.to.name)}
        </Badge>
      )}
      {set.map(([code, value]) => {
        const field = fields.find((one) => one.code === code);
        return (
          <Badge key={code} variant="outline" tt="none" fw={400}>
            {field?.name ?? desk.reason}:{' '}
            {field === undefined ? (
              String(value)
            ) : (
              <FieldValue field={field} value={value} recordId={recordId} compact />
            )}
          </Badge>
        );
      })}
    </Group>
  );
}

/** The required fields of the macro's transition that have no value yet. */
export function neededFields(
  { transition, set }: Macro,
  record: DocketRecord,
  remarks: Parameters<typeof transitionField>[1],
): FieldSchema[] {
  return (transition?.fields ?? [])
    .filter((field) => field.required && field.readOnly !== true)
    .filter(({ code }) => isEmpty(set[code]) && isEmpty(record.values[code]))
    .map((field) => transitionField(field, remarks));
}

interface ChosenMacroProps extends MacroProps {
  recordId: string;
  /** The fields that still need a value. */
  needed: readonly FieldSchema[];
  values: Readonly<Record<string, unknown>>;
  /** Shows missing values as errors. */
  tried: boolean;
  setValue: (code: string, value: unknown) => void;
  remove: () => void;
}

export function ChosenMacro({ macro, fields, recordId, needed, values, tried, setValue, remove }: ChosenMacroProps) {
  const t = useText(actionTexts);
  const problemText = useProblemText();
  return (
    <section className={classes.chosen} aria-label={`${t.macro}: ${macro.name}`}>
      <Group gap="xs" justify="space-between" wrap="nowrap">
        <span className={classes.name}>
          <IconBolt size={14} aria-hidden="true" /> {macro.name}
        </span>
        <ActionIcon size="sm" aria-label={t.removeMacro(macro.name)} onClick={remove}>
          <IconX size={14} />
        </ActionIcon>
      </Group>
      <MacroChanges macro={macro} fields={fields} recordId={recordId} />
      {needed.map((field) => (
        <FieldInput
          key={field.code}
          field={field}
          value={values[field.code] ?? null}
          onChange={(value) => setValue(field.code, value)}
          error={tried ? problemText(checkField(field, values[field.code] ?? null)) : undefined}
          place={{ objectId: recordId }}
        />
      ))}
    </section>
  );
}
