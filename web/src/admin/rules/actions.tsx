/** The actions of a rule, one after another. */
import { ActionIcon, Button, Group, Input, Select, Stack, Text, Textarea } from '@mantine/core';
import { IconArrowDown, IconArrowUp, IconPlus, IconX } from '@tabler/icons-react';
import { type ReactNode, useState } from 'react';
import { COMMENT_VISIBILITIES, DEFAULT_VISIBILITY } from '../../../../src/contract/comment-visibility.ts';
import { VISIBILITY_VIEWS } from '../../desk/comment-visibility.tsx';
import { useLanguage } from '../../i18n/language.ts';
import { useText } from '../../i18n/text.ts';
import { Assignments } from '../config/assignments.tsx';
import { ChooseItem, ChooseMany, ChooseOne } from '../config/choices.tsx';
import { at, codesAt, type FormPart, LocalizedInputs, textAt } from '../config/form-parts.tsx';
import form from '../config/form-parts.module.css';
import { type TypeShape, useCodes, useTypeShape } from '../config/type-shape.ts';
import { actionName, texts } from './texts.ts';

/** New actions, as they are added. */
const BLANK = {
  set: {},
  comment: { visibility: DEFAULT_VISIBILITY, body: { 'ru-RU': '', 'en-US': '' } },
  transition: '',
  create: { type: '', values: {} },
  notify: { to: [] },
  post: { connection: '', body: { text: '{{ number }} {{ title }}' } },
} as const;
type Kind = keyof typeof BLANK;
const KINDS = Object.keys(BLANK) as Kind[];

type Action = Readonly<Record<string, unknown>>;

function kindOf(action: Action): Kind | undefined {
  return KINDS.find((kind) => Object.hasOwn(action, kind));
}

interface ActionsProps extends FormPart {
  shape: TypeShape;
}

export function Actions({ item, set, shape }: ActionsProps) {
  const t = useText(texts);
  const given = at(item, ['do']);
  const actions = (Array.isArray(given) ? given : []) as Action[];
  const put = (list: readonly Action[]): void => set(['do'], list);
  const swap = (index: number): void =>
    put(actions.with(index, actions[index + 1] as Action).with(index + 1, actions[index] as Action));
  return (
    <Input.Wrapper label={t.actions} description={t.actionsHint} required labelElement="div" size="xs">
      {actions.length === 0 && (
        <Text size="sm" c="dimmed" mt={6}>
          {t.noActions}
        </Text>
      )}
      <ol className={form.lines} style={{ marginTop: '0.375rem' }}>
        {actions.map((action, index) => (
          <ActionBlock
            // Actions have no id; they are carried out in their order.
            // oxlint-disable-next-line react/no-array-index-key
            key={`${index} ${kindOf(action) ?? ''}`}
            name={t.action(index + 1, actionName(t, kindOf(action) ?? Object.keys(action)[0] ?? ''))}
            up={index === 0 ? undefined : () => swap(index - 1)}
            down={index === actions.length - 1 ? undefined : () => swap(index)}
            remove={() => put(actions.toSpliced(index, 1))}
          >
            <ActionForm item={item} set={set} shape={shape} action={action} index={index} />
          </ActionBlock>
        ))}
      </ol>
      <Group gap="xs" mt={6} role="group" aria-label={t.addAction}>
        {KINDS.map((kind) => (
          <Button
            key={kind}
            size="compact-xs"
            variant="light"
            leftSection={<IconPlus size={12} />}
            onClick={() => put([...actions, { [kind]: BLANK[kind] }])}
          >
            {actionName(t, kind)}
          </Button>
        ))}
      </Group>
    </Input.Wrapper>
  );
}

interface ActionBlockProps {
  name: string;
  up: (() => void) | undefined;
  down: (() => void) | undefined;
  remove: () => void;
  children: ReactNode;
}

function ActionBlock({ name, up, down, remove, children }: ActionBlockProps) {
  const t = useText(texts);
  return (
    <li className={form.block} aria-label={name}>
      <Group justify="space-between" mb={6} wrap="nowrap">
        <Text size="sm" fw={600}>
          {name}
        </Text>
        <Group gap={2} wrap="nowrap">
          <ActionIcon aria-label={t.moveUp(name)} disabled={up === undefined} onClick={up}>
            <IconArrowUp size={14} />
          </ActionIcon>
          <ActionIcon aria-label={t.moveDown(name)} disabled={down === undefined} onClick={down}>
            <IconArrowDown size={14} />
          </ActionIcon>
          <ActionIcon aria-label={t.remove(name)} onClick={remove}>
            <IconX size={14} />
          </ActionIcon>
        </Group>
      </Group>
      {children}
    </li>
  );
}

interface ActionFormProps extends ActionsProps {
  action: Action;
  index: number;
}

function ActionForm(props: ActionFormProps) {
  const t = useText(texts);
  const { action, index, set, shape } = props;
  switch (kindOf(action)) {
    case 'set':
      return (
        <Assignments
          label={t.setHint}
          value={(at(action, ['set']) ?? {}) as Record<string, unknown>}
          onChange={(next) => set(['do', index, 'set'], next ?? {})}
          fields={shape.fields.filter(({ readOnly }) => !readOnly)}
        />
      );
    case 'comment':
      return <CommentForm {...props} />;
    case 'transition':
      return <TransitionForm {...props} />;
    case 'create':
      return <CreateForm {...props} />;
    case 'notify':
      return <NotifyForm {...props} />;
    case 'post':
      return <PostForm {...props} />;
    default:
      return (
        <Text size="sm" c="dimmed">
          {t.unknownAction}
        </Text>
      );
  }
}

function NotifyForm({ set, shape, action, index }: ActionFormProps) {
  const t = useText(texts);
  const templates = useCodes('templates');
  return (
    <Stack gap="xs">
      <ChooseMany
        label={t.notifyTo}
        choices={shape.fields.filter(({ dataType }) => dataType === 'user' || dataType === 'group')}
        value={codesAt(action, ['notify', 'to'])}
        onChange={(codes) => set(['do', index, 'notify', 'to'], codes)}
      />
      <ChooseOne
        label={t.notifyTemplate}
        placeholder={t.standardTemplate}
        choices={templates}
        value={textAt(action, ['notify', 'template']) || null}
        onChange={(code) => set(['do', index, 'notify', 'template'], code ?? undefined)}
      />
    </Stack>
  );
}

function TransitionForm({ item, set, shape, action, index }: ActionFormProps) {
  const t = useText(texts);
  return (
    <Stack gap="xs">
      <ChooseOne
        label={t.transitionName}
        required
        clearable={false}
        choices={shape.transitions}
        value={textAt(action, ['transition']) || null}
        onChange={(code) => set(['do', index, 'transition'], code ?? '')}
      />
      <LocalizedInputs item={item} set={set} path={['do', index, 'reason']} ru={t.reasonRu} en={t.reasonEn} />
      <Text size="xs" c="dimmed">
        {t.reasonHint}
      </Text>
    </Stack>
  );
}

function CommentForm({ item, set, action, index }: ActionFormProps) {
  const t = useText(texts);
  const language = useLanguage();
  return (
    <Stack gap="xs">
      <Select
        label={t.visibility}
        allowDeselect={false}
        data={COMMENT_VISIBILITIES.map((one) => ({
          value: one as string,
          label: VISIBILITY_VIEWS[one].label[language],
        }))}
        value={textAt(action, ['comment', 'visibility']) || null}
        onChange={(next) => next !== null && set(['do', index, 'comment', 'visibility'], next)}
      />
      <LocalizedInputs
        item={item}
        set={set}
        path={['do', index, 'comment', 'body']}
        ru={t.bodyRu}
        en={t.bodyEn}
        lines
      />
      <Text size="xs" c="dimmed">
        {t.bodyHint}
      </Text>
    </Stack>
  );
}

function CreateForm({ set, action, index }: ActionFormProps) {
  const t = useText(texts);
  const type = textAt(action, ['create', 'type']);
  const { fields } = useTypeShape(type === '' ? [] : [type]);
  return (
    <Stack gap="xs">
      <Group grow align="flex-start">
        <ChooseItem
          section="types"
          label={t.newType}
          required
          clearable={false}
          value={type || null}
          onChange={(code) => set(['do', index, 'create', 'type'], code ?? '')}
        />
        <ChooseItem
          section="relationDefinitions"
          label={t.relation}
          placeholder={t.noRelation}
          value={textAt(action, ['create', 'relation']) || null}
          onChange={(code) => set(['do', index, 'create', 'relation'], code ?? undefined)}
        />
      </Group>
      <Assignments
        label={t.values}
        value={(at(action, ['create', 'values']) ?? {}) as Record<string, unknown>}
        onChange={(next) => set(['do', index, 'create', 'values'], next)}
        fields={fields.filter(({ readOnly }) => !readOnly)}
      />
    </Stack>
  );
}

/** The object that the text says; otherwise the text, which the plan then refuses. */
function bodyOf(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : text;
  } catch {
    return text;
  }
}

function PostForm({ set, action, index }: ActionFormProps) {
  const t = useText(texts);
  const body = at(action, ['post', 'body']) ?? {};
  const [typed, setTyped] = useState('');
  // As it was typed, unless the body was changed elsewhere.
  const isTyped = JSON.stringify(bodyOf(typed)) === JSON.stringify(body);
  const text = isTyped ? typed : typeof body === 'string' ? body : JSON.stringify(body, null, 2);
  return (
    <Stack gap="xs">
      <ChooseItem
        section="webhooks"
        label={t.webhook}
        description={t.webhookHint}
        required
        clearable={false}
        value={textAt(action, ['post', 'connection']) || null}
        onChange={(code) => set(['do', index, 'post', 'connection'], code ?? '')}
      />
      <Textarea
        label={t.messageBody}
        description={t.messageHint}
        required
        autosize
        minRows={3}
        maxRows={16}
        styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
        spellCheck={false}
        value={text}
        error={typeof body === 'string' ? t.notJson : undefined}
        onChange={({ currentTarget: { value } }) => {
          setTyped(value);
          set(['do', index, 'post', 'body'], bodyOf(value));
        }}
      />
    </Stack>
  );
}
