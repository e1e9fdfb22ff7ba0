/** Form of an integration. A new one is created disabled, and only a disabled one can be changed. */
import { ActionIcon, Autocomplete, Button, Group, Input, Modal, Select, Stack, Text, TextInput } from '@mantine/core';
import { IconPlus, IconX } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { COMMENT_VISIBILITIES } from '../../../../src/contract/comment-visibility.ts';
import { call } from '../../api/client.ts';
import type { FieldSchema, inbound } from '../../api/types.ts';
import { useSession } from '../../app/session.ts';
import { VISIBILITY_VIEWS } from '../../desk/comment-visibility.tsx';
import { deskTypesQuery, typeFieldsQuery } from '../../desk/queries.ts';
import { PersonPicker } from '../../fields/pickers.tsx';
import { useLanguage } from '../../i18n/language.ts';
import { useText } from '../../i18n/text.ts';
import { useAction } from '../../ui/action.ts';
import { FaultAlert } from '../../ui/fault.tsx';
import { type Command, type Integration, integrationsKey, type NewIntegration } from './queries.ts';
import { texts } from './texts.ts';

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
  'comment.add': ['objectId', 'body', 'visibility'],
};

const COMMANDS: readonly Command[] = ['object.create', 'object.update', 'comment.add'];

export function IntegrationForm(props: FormProps) {
  const t = useText(texts);
  return (
    <Modal opened={props.opened} onClose={props.onClose} title={props.integration?.code ?? t.create} size="lg">
      <Form {...props} />
    </Modal>
  );
}

function Form({ onClose, onSaved, integration }: FormProps) {
  const t = useText(texts);
  const language = useLanguage();
  const { user } = useSession();
  const { data: types = [] } = useQuery(deskTypesQuery);
  const before = integration?.config;
  const [code, setCode] = useState('');
  const [executor, setExecutor] = useState<string | null>(integration?.executionPrincipalId ?? user.id);
  const [command, setCommand] = useState<Command>((before?.command as Command | undefined) ?? 'object.create');
  const [type, setType] = useState<string | null>(before?.typeDefinitionId ?? null);
  const [visibility, setVisibility] = useState<string>(before?.visibility ?? COMMENT_VISIBILITIES[0]);
  const [lines, setLines] = useState<readonly Line[]>(() =>
    (before?.mapping ?? [{ source: '', target: '' }]).map((line, key) => ({ ...line, key })),
  );
  const typeId = types.find((one) => one.id === type || one.code === type)?.id ?? null;
  const { data } = useQuery({ ...typeFieldsQuery(typeId ?? ''), enabled: typeId !== null });
  const fields = command === 'comment.add' ? [] : ((data?.fields as FieldSchema[] | undefined) ?? []);
  const targets = [...SPECIAL[command], ...fields.map((field) => field.code)];
  const used = lines.filter((line) => line.source.trim() !== '' && line.target.trim() !== '');
  const change = (key: number, part: Partial<Line>): void =>
    setLines((all) => all.map((line) => (line.key === key ? { ...line, ...part } : line)));
  const save = useAction({
    run: () => {
      const config = {
        command,
        ...(command !== 'comment.add' && typeId !== null ? { typeDefinitionId: typeId } : {}),
        ...(command === 'comment.add' ? { visibility } : {}),
        mapping: used.map(({ source, target }) => ({ source: source.trim(), target: target.trim() })),
      } as NewIntegration['config'];
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
            body: { config, ...(executor === null ? {} : { executionPrincipalId: executor }) },
          });
    },
    touches: [integrationsKey],
    done: integration === undefined ? t.created : t.changed,
    after: onSaved,
    quiet: true,
  });
  const ready =
    (integration !== undefined || code.trim() !== '') &&
    executor !== null &&
    used.length > 0 &&
    (command !== 'object.create' || typeId !== null);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (ready) save.mutate();
      }}
    >
      <Stack gap="sm">
        <FaultAlert error={save.error} />
        {integration === undefined && (
          <TextInput
            label={t.code}
            description={t.codeHint}
            required
            value={code}
            onChange={(event) => setCode(event.currentTarget.value)}
            data-autofocus
          />
        )}
        <Select
          label={t.command}
          allowDeselect={false}
          data={COMMANDS.map((one) => ({ value: one, label: t[one] }))}
          value={command}
          onChange={(next) => setCommand((next ?? 'object.create') as Command)}
        />
        {command === 'comment.add' ? (
          <Select
            label={t.visibility}
            allowDeselect={false}
            data={COMMENT_VISIBILITIES.map((value) => ({ value, label: VISIBILITY_VIEWS[value].label[language] }))}
            value={visibility}
            onChange={(next) => setVisibility(next ?? COMMENT_VISIBILITIES[0])}
          />
        ) : (
          <Select
            label={t.type}
            required={command === 'object.create'}
            searchable
            data={types.map((one) => ({ value: one.id, label: one.name }))}
            value={typeId}
            onChange={setType}
          />
        )}
        <PersonPicker
          label={t.executor}
          description={t.executorHint}
          required
          value={executor}
          onChange={setExecutor}
        />
        <Input.Wrapper label={t.mapping} description={t.sourceHint} labelElement="div" size="xs">
          <Stack gap="xs" mt={6}>
            {lines.map((line, index) => (
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
                  onClick={() => setLines((all) => all.filter((one) => one.key !== line.key))}
                >
                  <IconX size={14} />
                </ActionIcon>
              </Group>
            ))}
            <Group>
              <Button
                variant="subtle"
                leftSection={<IconPlus size={14} />}
                onClick={() =>
                  setLines((all) => [
                    ...all,
                    { key: Math.max(-1, ...all.map(({ key }) => key)) + 1, source: '', target: '' },
                  ])
                }
              >
                {t.addRow}
              </Button>
            </Group>
          </Stack>
        </Input.Wrapper>
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            {t.cancel}
          </Button>
          <Button type="submit" loading={save.isPending} disabled={!ready}>
            {integration === undefined ? t.saveDisabled : t.save}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
