/** Details of a transition: required input, conditions and automatic values. */
import { Stack, Text } from '@mantine/core';
import { useText } from '../../i18n/text.ts';
import { Assignments } from '../config/assignments.tsx';
import { ConditionPart, useConditionWords } from '../config/condition-part.tsx';
import { FormFields } from '../config/form-fields.tsx';
import type { TypeShape } from '../config/type-shape.ts';
import type { TransitionItem } from './model.ts';
import { texts } from './texts.ts';

/** Returns short descriptions of the details. */
export function useTransitionDetails(transition: TransitionItem, shape: TypeShape): string[] {
  const t = useText(texts);
  const words = useConditionWords(shape.conditionFields, transition.condition);
  const nameOf = (code: string): string =>
    code === '$reason'
      ? t.reason
      : code === '$decisionReport'
        ? t.decisionReport
        : (shape.fields.find((field) => field.code === code)?.name ?? code);
  return [
    ...(transition.fields ?? []).map(({ code, required }) => `${nameOf(code)}${required === true ? ' *' : ''}`),
    ...(transition.condition === undefined ? [] : [words(transition.condition)]),
    ...(transition.set === undefined
      ? []
      : [`${t.sets.toLowerCase()}: ${Object.keys(transition.set).map(nameOf).join(', ')}`]),
  ];
}

interface TransitionDetailsProps {
  transition: TransitionItem;
  shape: TypeShape;
  set: (key: string, value: unknown) => void;
}

export function TransitionDetails({ transition, shape, set }: TransitionDetailsProps) {
  const t = useText(texts);
  const asked = [
    ...shape.fields.filter(({ readOnly }) => !readOnly),
    { code: '$reason', name: t.reason },
    { code: '$decisionReport', name: t.decisionReport },
  ];
  return (
    <Stack gap="sm" maw="44rem">
      {shape.fields.length === 0 && (
        <Text size="xs" c="dimmed">
          {t.noType}
        </Text>
      )}
      <ConditionPart
        label={t.of(t.condition, transition.code)}
        none={t.always}
        value={transition.condition}
        onChange={(condition) => set('condition', condition)}
        fields={shape.conditionFields}
      />
      <FormFields
        label={t.of(t.formFields, transition.code)}
        value={transition.fields}
        fields={asked}
        onChange={(list) => set('fields', list)}
      />
      <Assignments
        label={t.of(t.sets, transition.code)}
        value={transition.set ?? {}}
        onChange={(next) => set('set', next)}
        fields={shape.fields}
      />
    </Stack>
  );
}
