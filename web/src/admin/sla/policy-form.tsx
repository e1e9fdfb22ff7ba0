/** Form of an SLA policy: type, calendar, targets, and the conditions that start, pause and stop its timer. */
import { ActionIcon, Button, Input, SimpleGrid, Stack, TagsInput } from '@mantine/core';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import type { FieldSchema } from '../../api/types.ts';
import { FieldInput } from '../../fields/input.tsx';
import { useText } from '../../i18n/text.ts';
import { ChooseItem } from '../config/choices.tsx';
import { ConditionPart } from '../config/condition-part.tsx';
import { at, CodeInput, NameInputs, textAt } from '../config/form-parts.tsx';
import form from '../config/form-parts.module.css';
import type { ItemFormProps } from '../config/item-editor.tsx';
import { useTypeShape } from '../config/type-shape.ts';
import { texts } from './texts.ts';

interface Target {
  when?: unknown;
  duration?: string;
}

function durationField(name: string): FieldSchema {
  return { code: '', name, dataType: 'duration', required: true, readOnly: false, multiple: false, constraints: {} };
}

export function PolicyForm(props: ItemFormProps) {
  const { item, set } = props;
  const t = useText(texts);
  const type = textAt(item, ['type']);
  const { conditionFields } = useTypeShape(type === '' ? [] : [type]);
  return (
    <Stack gap="sm">
      <CodeInput {...props} />
      <NameInputs item={item} set={set} />
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
        <ChooseItem
          section="types"
          label={t.type}
          value={type || null}
          clearable={false}
          onChange={(code) => set(['type'], code)}
        />
        <ChooseItem
          section="calendars"
          label={t.hours}
          value={textAt(item, ['calendar']) || null}
          clearable={false}
          onChange={(code) => set(['calendar'], code)}
        />
      </SimpleGrid>
      <Targets item={item} set={set} conditionFields={conditionFields} />
      {(['start', 'pause', 'stop'] as const).map((key) => (
        <ConditionPart
          key={key}
          label={t[key]}
          none={key === 'pause' ? t.neverPauses : t.missing}
          value={at(item, [key])}
          onChange={(condition) => set([key], condition)}
          fields={conditionFields}
          optional={key === 'pause'}
        />
      ))}
      <WarningInput item={item} set={set} />
    </Stack>
  );
}

interface TargetsProps {
  item: ItemFormProps['item'];
  set: ItemFormProps['set'];
  conditionFields: ReturnType<typeof useTypeShape>['conditionFields'];
}

/** The targets; the first one whose condition is met applies. */
function Targets({ item, set, conditionFields }: TargetsProps) {
  const t = useText(texts);
  const given = at(item, ['targets']);
  const targets: readonly Target[] = Array.isArray(given) ? given : [];
  return (
    <Input.Wrapper label={t.targets} description={t.targetsHint} labelElement="div" size="xs">
      <ul className={form.lines}>
        {targets.map((target, index) => (
          <TargetLine
            // A target is identified by its index; the first matching target applies.
            // oxlint-disable-next-line react/no-array-index-key
            key={index}
            index={index}
            target={target}
            set={set}
            conditionFields={conditionFields}
            targets={targets}
          />
        ))}
      </ul>
      <Button
        mt={6}
        size="compact-xs"
        variant="light"
        leftSection={<IconPlus size={12} />}
        onClick={() => set(['targets'], [...targets, { duration: 'PT8H' }])}
      >
        {t.addTarget}
      </Button>
    </Input.Wrapper>
  );
}

interface TargetLineProps {
  index: number;
  target: Target;
  set: ItemFormProps['set'];
  conditionFields: ReturnType<typeof useTypeShape>['conditionFields'];
  targets: readonly Target[];
}

function TargetLine({ index, target, set, conditionFields, targets }: TargetLineProps) {
  const t = useText(texts);
  return (
    <li className={form.block}>
      <div className={form.target}>
        <FieldInput
          field={durationField(t.targetOf(index + 1))}
          value={target.duration ?? null}
          place={null}
          onChange={(duration) => set(['targets', index, 'duration'], duration ?? '')}
        />
        <ConditionPart
          label={t.whenOf(index + 1)}
          none={t.otherwise}
          value={target.when}
          onChange={(when) => set(['targets', index, 'when'], when)}
          fields={conditionFields}
        />
        <ActionIcon
          aria-label={t.removeTarget(index + 1)}
          disabled={targets.length === 1}
          onClick={() => set(['targets'], targets.toSpliced(index, 1))}
        >
          <IconTrash size={14} />
        </ActionIcon>
      </div>
    </li>
  );
}

function WarningInput({ item, set }: { item: ItemFormProps['item']; set: ItemFormProps['set'] }) {
  const t = useText(texts);
  const warnAt = at(item, ['warnAt']);
  return (
    <TagsInput
      label={t.warnAt}
      description={t.warnHint}
      value={Array.isArray(warnAt) ? warnAt.map(String) : []}
      onChange={(list) => {
        const percents = list.map(Number).filter((percent) => Number.isInteger(percent));
        set(['warnAt'], percents.length === 0 ? undefined : percents);
      }}
    />
  );
}
