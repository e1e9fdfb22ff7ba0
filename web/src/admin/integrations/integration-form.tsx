/** Form of an integration. A new one is created disabled, and only a disabled one can be changed. */
import { ActionIcon, Autocomplete, Button, Group, Input, Select, Stack, Text, TextInput } from '@mantine/core';
import { IconPlus, IconX } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { COMMENT_VISIBILITIES } from '../../../../src/contract/comment-visibility.ts';
import { call } from '../../api/client.ts';
import type { FieldSchema, inbound } from '../../api/types.ts';
import { useSession } from '../../app/session.ts';
import { type DeskType, deskTypesQuery, typeFieldsQuery } from '../../desk/queries.ts';
import { VISIBILITY_VIEWS } from '../../desk/comment-visibility.tsx';
import { PersonPicker } from '../../fields/pickers.tsx';
import { useLanguage } from '../../i18n/language.ts';
import { useText } from '../../i18n/text.ts';
import { FormFrame, useForm } from '../../ui/form.tsx';
import { codeAfter } from '../config/codes.ts';
import { useCreateFirst } from '../config/missing.tsx';
import { type Command, type Integration, integrationsKey, integrationsQuery, type NewIntegration } from './queries.ts';
import { texts } from './texts.ts';
import { Dialog } from '../../ui/dialog.tsx';

interface FormProps {
  opened: boolean;
  onClose: () => void;
  onSaved: (one: Integration) => void;
  integration?: Integration;
}

interface Line {
  key: number;
  source: string;
  target: string;
}

/** Mapping targets that are not fields, by command. */
const SPECIAL: Readonly<Record<Command, readonly string[]>> = {
  'object.create': ['objectId'],
  'object.update': ['objectId', 'expectedRevision'],
  'comment.add': ['objectId', 'number', 'body', 'visibility'],
};

const COMMANDS: readonly Command[] = ['object.create', 'object.update', 'comment.add'];

export function IntegrationForm(props: FormProps) {
  const t = useText(texts);
  return (
    <Dialog opened={props.opened} onClose={props.onClose} title={props.integration?.code ?? t.create} size="lg">
      <Form {...props} />
    </Dialog>
  );
}

function Form({ onClose, onSaved, integration }: FormProps) {
  const t = useText(texts);
  const language = useLanguage();
  const form = useIntegrationForm(integration, onSaved);
  const { command, lines } = form.values;
  const { data } = useQuery(deskTypesQuery);
  const types = data ?? [];
  const typeId = typeIdOf(types, form.values.type);
  const codes = useQuery(integrationsQuery).data?.map((one) => one.code) ?? [];
  const missing = useCreateFirst('types', data?.length);
  const change = (part: { command?: Command; type?: string | null }): void => {
    const name = (values: { command: Command; type: string | null }): string =>
      `${types.find(({ id }) => id === values.type)?.code ?? ''} ${values.command.replace('object.', '')}`;
    const { code } = form.values;
    form.set({ ...part, code: codeAfter(code, name(form.values), name({ ...form.values, ...part }), codes) });
  };
  return (
    <FormFrame form={form} label={integration === undefined ? t.saveDisabled : t.save} onCancel={onClose}>
      <Select
        label={t.command}
        allowDeselect={false}
        data={COMMANDS.map((one) => ({ value: one, label: t[one] }))}
        value={command}
        data-autofocus
        onChange={(next) => change({ command: next ?? 'object.create' })}
      />
      {command === 'comment.add' ? (
        <Select
          label={t.visibility}
          allowDeselect={false}
          data={COMMENT_VISIBILITIES.map((one) => ({
            value: one as string,
            label: VISIBILITY_VIEWS[one].label[language],
          }))}
          value={form.values.visibility}
          onChange={(next) => form.set({ visibility: next ?? COMMENT_VISIBILITIES[0] })}
        />
      ) : (
        <Select
          label={t.type}
          required={command === 'object.create'}
          searchable
          data={types.map((one) => ({ value: one.id, label: one.name }))}
          value={typeId}
          onChange={(type) => change({ type })}
          {...missing}
        />
      )}
      {integration === undefined && (
        <TextInput label={t.code} description={t.codeHint} required {...form.text('code')} />
      )}
      <PersonPicker label={t.executor} description={t.executorHint} required {...form.input('executor')} />
      <MappingInput command={command} typeId={typeId} value={lines} onChange={(next) => form.set({ lines: next })} />
    </FormFrame>
  );
}

function typeIdOf(types: readonly DeskType[], idOrCode: string | null): string | null {
  return types.find((one) => one.id === idOrCode || one.code === idOrCode)?.id ?? null;
}

const isUsed = (line: Line): boolean => line.source.trim() !== '' && line.target.trim() !== '';

function useIntegrationForm(integration: Integration | undefined, onSaved: (one: Integration) => void) {
  const t = useText(texts);
  const { user } = useSession();
  const { data: types = [] } = useQuery(deskTypesQuery);
  const before = integration?.config;
  return useForm({
    start: {
      code: '',
      executor: integration?.executionPrincipalId ?? user.id,
      command: (before?.command as Command | undefined) ?? 'object.create',
      type: before?.typeDefinitionId ?? null,
      visibility: (before?.visibility as string | undefined) ?? COMMENT_VISIBILITIES[0],
      lines: (before?.mapping ?? [{ source: '', target: '' }]).map((line, key): Line => ({ ...line, key })),
    },
    send: ({ code, executor, command, type, visibility, lines }) => {
      const typeId = typeIdOf(types, type);
      const config = {
        command,
        ...(command !== 'comment.add' && typeId !== null ? { typeDefinitionId: typeId } : {}),
        ...(command === 'comment.add' ? { visibility } : {}),
        mapping: lines.filter(isUsed).map(({ source, target }) => ({ source: source.trim(), target: target.trim() })),
      } as NewIntegration['config'];
      const principal = executor === null ? {} : { executionPrincipalId: executor };
      return integration === undefined
        ? call<typeof inbound.createIntegration>('POST', '/integrations', {
            body: {
              code: code.trim(),
              type: 'inbound-webhook',
              executionPrincipalId: executor ?? '',
              enabled: false,
              config,
            },
          })
        : call<typeof inbound.changeIntegration>('PATCH', `/integrations/${integration.id}`, {
            body: { config, ...principal },
          });
    },
    ready: ({ code, executor, command, type, lines }) =>
      (integration !== undefined || code.trim() !== '') &&
      executor !== null &&
      lines.some(isUsed) &&
      (command !== 'object.create' || typeIdOf(types, type) !== null),
    touches: [integrationsKey],
    done: integration === undefined ? t.created : t.changed,
    after: onSaved,
  });
}

interface MappingInputProps {
  command: Command;
  typeId: string | null;
  value: readonly Line[];
  onChange: (lines: Line[]) => void;
}

/** Which part of the call goes to which field of the record. */
function MappingInput({ command, typeId, value, onChange }: MappingInputProps) {
  const t = useText(texts);
  const { data } = useQuery({ ...typeFieldsQuery(typeId ?? ''), enabled: typeId !== null });
  const fields = command === 'comment.add' ? [] : ((data?.fields as FieldSchema[] | undefined) ?? []);
  const targets = [...SPECIAL[command], ...fields.map((field) => field.code)];
  const change = (key: number, part: Partial<Line>): void =>
    onChange(value.map((line) => (line.key === key ? { ...line, ...part } : line)));
  const add = (): void =>
    onChange([...value, { key: Math.max(-1, ...value.map(({ key }) => key)) + 1, source: '', target: '' }]);
  return (
    <Input.Wrapper label={t.mapping} description={t.sourceHint} labelElement="div" size="xs">
      <Stack gap="xs" mt={6}>
        {value.map((line, index) => (
          <Group key={line.key} gap="xs" wrap="nowrap">
            <TextInput
              aria-label={`${t.source} ${index + 1}`}
              placeholder="alert.summary"
              flex={1}
              value={line.source}
              onChange={(event) => change(line.key, { source: event.currentTarget.value })}
            />
            <Text size="sm" aria-hidden="true">
              →
            </Text>
            <Autocomplete
              aria-label={`${t.target} ${index + 1}`}
              flex={1}
              data={targets}
              value={line.target}
              onChange={(target) => change(line.key, { target })}
            />
            <ActionIcon
              aria-label={`${t.removeRow} ${index + 1}`}
              onClick={() => onChange(value.filter((one) => one.key !== line.key))}
            >
              <IconX size={14} />
            </ActionIcon>
          </Group>
        ))}
        <Group>
          <Button variant="subtle" leftSection={<IconPlus size={14} />} onClick={add}>
            {t.addRow}
          </Button>
        </Group>
      </Stack>
    </Input.Wrapper>
  );
}
