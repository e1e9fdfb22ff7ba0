/** Form of a rule: when it fires, on which records, with whose rights, and what it does. */
import { RULE_EVENTS } from '../../../../src/contract/events.ts';
import { Input, MultiSelect, NumberInput, SegmentedControl, Select, SimpleGrid, Stack, Switch } from '@mantine/core';
import { useMemo } from 'react';
import { COMMENT_VISIBILITIES } from '../../../../src/contract/comment-visibility.ts';
import { VISIBILITY_VIEWS } from '../../desk/comment-visibility.tsx';
import { FieldInput } from '../../fields/input.tsx';
import type { ConditionField } from '../../filters/model.ts';
import { eventName, eventTexts } from '../../i18n/event-texts.ts';
import { useLanguage } from '../../i18n/language.ts';
import { useText } from '../../i18n/text.ts';
import { ChooseItem, ChooseItems, ChooseOne } from '../config/choices.tsx';
import { ConditionPart } from '../config/condition-part.tsx';
import { at, CodeInput, codesAt, NameInputs, textAt } from '../config/form-parts.tsx';
import type { ItemFormProps } from '../config/item-editor.tsx';
import { type Named, type TypeShape, useTypeShape } from '../config/type-shape.ts';
import { Actions } from './actions.tsx';
import { texts } from './texts.ts';

const ONCE = ['becomes-true', 'every-time'] as const;
/** The value of `since` for the last change of state. */
const SINCE_STATE = 'workflowState';
const ON_ERROR = ['note', 'refuse'] as const;
const VIAS = ['api', 'console', 'bulk', 'inbound', 'catalog', 'import', 'mail', 'rule', 'workflow', 'system'] as const;

export function RuleForm(props: ItemFormProps) {
  const { item, set } = props;
  const t = useText(texts);
  const types = codesAt(item, ['types']);
  const onTime = at(item, ['after']) !== undefined;
  const shape = useTypeShape(types);
  return (
    <Stack gap="sm">
      <NameInputs item={item} set={set} />
      <CodeInput {...props} />
      <Switch
        label={t.enabled}
        description={t.enabledHint}
        checked={at(item, ['enabled']) !== false}
        onChange={(event) => set(['enabled'], event.currentTarget.checked)}
      />
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
        <ChooseItems
          section="types"
          label={t.types}
          required
          value={types}
          onChange={(codes) => set(['types'], codes)}
        />
        <ChooseItem
          section="users"
          label={t.runAs}
          description={t.runAsHint}
          required
          value={textAt(item, ['runAs']) || null}
          clearable={false}
          onChange={(login) => set(['runAs'], login)}
        />
      </SimpleGrid>
      <Input.Wrapper label={t.trigger} labelElement="div" size="xs">
        <div>
          <SegmentedControl
            aria-label={t.trigger}
            value={onTime ? 'time' : 'events'}
            onChange={(next) => {
              set(['on'], next === 'time' ? undefined : ['ObjectCreated']);
              set(['after'], next === 'time' ? { duration: 'PT4H', since: SINCE_STATE } : undefined);
            }}
            data={[
              { value: 'events', label: t.onEvents },
              { value: 'time', label: t.onTime },
            ]}
          />
        </div>
      </Input.Wrapper>
      {onTime ? <TimeInputs item={item} set={set} shape={shape} /> : <EventsInput item={item} set={set} />}
      <WhenInputs item={item} set={set} shape={shape} />
      <Actions item={item} set={set} shape={shape} />
      {!onTime && <OrderInput item={item} set={set} />}
      <Choice item={item} set={set} name="onError" options={ON_ERROR} />
    </Stack>
  );
}

/** Which of the rules that one event fires runs first. */
function OrderInput({ item, set }: Pick<ItemFormProps, 'item' | 'set'>) {
  const t = useText(texts);
  const order = at(item, ['order']);
  return (
    <NumberInput
      label={t.order}
      description={t.orderHint}
      allowDecimal={false}
      value={typeof order === 'number' ? order : 0}
      onChange={(next) => set(['order'], typeof next === 'number' && next !== 0 ? next : undefined)}
    />
  );
}

interface PartProps extends Pick<ItemFormProps, 'item' | 'set'> {
  shape: TypeShape;
}

function EventsInput({ item, set }: Pick<ItemFormProps, 'item' | 'set'>) {
  const t = useText(texts);
  const events = useText(eventTexts);
  return (
    <MultiSelect
      label={t.on}
      description={t.onHint}
      required
      searchable
      data={RULE_EVENTS.map((event) => ({ value: event as string, label: eventName(events, event) }))}
      value={codesAt(item, ['on'])}
      onChange={(list) => set(['on'], list)}
    />
  );
}

/** How long after what a time-based rule fires, and what must hold until then. */
function TimeInputs({ item, set, shape }: PartProps) {
  const t = useText(texts);
  const moments = shape.fields.filter(({ dataType, multiple }) => dataType === 'datetime' && !multiple);
  const duration = { code: '', name: t.duration, dataType: 'duration' as const, required: true };
  return (
    <>
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
        <FieldInput
          field={{ ...duration, readOnly: false, multiple: false, constraints: {} }}
          value={textAt(item, ['after', 'duration']) || null}
          onChange={(next) => set(['after', 'duration'], next ?? '')}
          place={null}
        />
        <ChooseOne
          label={t.since}
          clearable={false}
          choices={[{ code: SINCE_STATE, name: t.sinceState }, ...moments]}
          value={textAt(item, ['after', 'since']) || null}
          onChange={(code) => set(['after', 'since'], code ?? SINCE_STATE)}
        />
        <ChooseItem
          section="calendars"
          label={t.calendar}
          placeholder={t.allTime}
          value={textAt(item, ['after', 'calendar']) || null}
          onChange={(code) => set(['after', 'calendar'], code ?? undefined)}
        />
      </SimpleGrid>
      <ConditionPart
        label={t.while}
        none={t.anyState}
        value={at(item, ['after', 'while'])}
        onChange={(condition) => set(['after', 'while'], condition)}
        fields={shape.conditionFields}
      />
    </>
  );
}

/** The condition, and whether it fires once or every time. */
function WhenInputs({ item, set, shape }: PartProps) {
  const t = useText(texts);
  const ruleFields = useRuleFields(shape);
  const onTime = at(item, ['after']) !== undefined;
  return (
    <>
      <ConditionPart
        label={t.when}
        none={onTime ? t.anyState : t.always}
        value={at(item, ['when'])}
        onChange={(condition) => set(['when'], condition)}
        fields={onTime ? shape.conditionFields : ruleFields}
      />
      {!onTime && at(item, ['when']) !== undefined && <Choice item={item} set={set} name="once" options={ONCE} />}
    </>
  );
}

interface ChoiceProps extends Pick<ItemFormProps, 'item' | 'set'> {
  name: 'once' | 'onError';
  /** The first one is the default. */
  options: readonly ((typeof ONCE)[number] | (typeof ON_ERROR)[number])[];
}

function Choice({ item, set, name, options }: ChoiceProps) {
  const t = useText(texts);
  return (
    <Select
      label={t[name]}
      data={options.map((option) => ({ value: option, label: t[option] }))}
      value={textAt(item, [name]) || (options[0] ?? null)}
      allowDeselect={false}
      onChange={(option) => set([name], option === options[0] ? undefined : option)}
    />
  );
}

/** The fields of the records, and facts about the event. */
function useRuleFields({ fields, conditionFields }: TypeShape): readonly ConditionField[] {
  const t = useText(texts);
  const events = useText(eventTexts);
  const language = useLanguage();
  return useMemo(() => {
    const fact = (code: keyof typeof t & string, dataType: ConditionField['dataType'], options?: Named[]) => ({
      code,
      name: t[code] as string,
      dataType,
      multiple: false,
      constraints: options === undefined ? {} : { options },
    });
    const changed = [
      ...fields.map(({ code, name }) => ({ code, name })),
      { code: 'workflowState', name: t.workflowState },
      { code: 'state', name: t.state },
    ];
    const facts: ConditionField[] = [
      fact('changed', 'enum', changed),
      fact(
        'event.type',
        'enum',
        RULE_EVENTS.map((code) => ({ code, name: eventName(events, code) })),
      ),
      fact(
        'event.via',
        'enum',
        VIAS.map((code) => ({ code, name: t[`via_${code}`] })),
      ),
      fact('event.actor', 'user'),
      fact('event.actorIn', 'enum', [
        ...fields.filter(({ dataType }) => dataType === 'user').map(({ code, name }) => ({ code, name })),
        { code: 'createdBy', name: t.createdBy },
      ]),
      fact(
        'comment.visibility',
        'enum',
        COMMENT_VISIBILITIES.map((code) => ({ code, name: VISIBILITY_VIEWS[code].short[language] })),
      ),
    ];
    return [...conditionFields, ...facts.filter(({ code }) => !conditionFields.some((field) => field.code === code))];
  }, [t, events, language, fields, conditionFields]);
}
