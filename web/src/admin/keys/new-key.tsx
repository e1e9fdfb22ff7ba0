/** Form to issue a key: owner, scopes, expiry and allowed addresses. */
import { Button, Checkbox, Group, Select, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { call } from '../../api/client.ts';
import type { access, identity } from '../../api/types.ts';
import { useHas, useSession } from '../../app/session.ts';
import { useLanguage } from '../../i18n/language.ts';
import { useText } from '../../i18n/text.ts';
import { useAction } from '../../ui/action.ts';
import { FaultAlert } from '../../ui/fault.tsx';
import { Page, Panel } from '../../ui/page.tsx';
import { ShownOnce } from '../../ui/shown-once.tsx';
import classes from './keys.module.css';
import { SCOPES } from './scopes.ts';
import { texts } from './texts.ts';

const TERMS = [30, 90, 365] as const;
const DAY_MS = 86_400_000;

export function NewKey() {
  const t = useText(texts);
  const navigate = useNavigate();
  const { user } = useSession();
  const [owner, setOwner] = useState(user.login ?? '');
  const [name, setName] = useState('');
  const [scopes, setScopes] = useState<string[]>([]);
  const [term, setTerm] = useState('90');
  const [allow, setAllow] = useState('');
  const create = useAction({
    run: () =>
      call<typeof access.createKey>('POST', '/keys', {
        body: {
          owner: owner.trim(),
          name: name.trim(),
          scopes,
          allow: allow.split(/[\s,]+/).filter((range) => range !== ''),
          ...(term === '' ? {} : { expiresAt: new Date(Date.now() + Number(term) * DAY_MS).toISOString() }),
        },
      }),
    touches: [['keys']],
    quiet: true,
  });
  const back = { label: t.back, href: '/admin/keys' };
  if (create.data !== undefined) {
    return (
      <Page title={name} back={back} narrow>
        <Stack gap="md">
          <ShownOnce label={t.issued} secret={create.data.key} />
          <Group>
            <Button onClick={() => void navigate({ to: '/admin/$', params: { _splat: 'keys' } })}>{t.toList}</Button>
          </Group>
        </Stack>
      </Page>
    );
  }
  const send = (event: FormEvent): void => {
    event.preventDefault();
    create.mutate();
  };
  return (
    <Page title={t.create} back={back} narrow>
      <form onSubmit={send}>
        <Panel>
          <Stack gap="sm">
            <OwnerInput value={owner} onChange={setOwner} />
            <TextInput
              label={t.name}
              description={t.nameHint}
              value={name}
              onChange={(event) => setName(event.currentTarget.value)}
              required
              maxLength={200}
            />
            <Select
              label={t.expiry}
              data={[
                ...TERMS.map((days) => ({ value: String(days), label: t.days(days) })),
                { value: '', label: t.never },
              ]}
              value={term}
              allowDeselect={false}
              onChange={(value) => setTerm(value ?? '')}
            />
            <Textarea
              label={t.allow}
              description={t.allowHint}
              value={allow}
              onChange={(event) => setAllow(event.currentTarget.value)}
              autosize
              minRows={1}
            />
          </Stack>
        </Panel>
        <Panel title={t.scopes}>
          <ScopeChoice value={scopes} onChange={setScopes} />
        </Panel>
        <Stack gap="sm" mt="md">
          <FaultAlert error={create.error} />
          <Group>
            <Button type="submit" loading={create.isPending} disabled={scopes.length === 0 || name.trim() === ''}>
              {t.create}
            </Button>
            {scopes.length === 0 && (
              <Text size="xs" c="dimmed">
                {t.scopesMissing}
              </Text>
            )}
          </Group>
        </Stack>
      </form>
    </Page>
  );
}

/** Users who may issue keys for others choose the owner; all others own their keys. */
function OwnerInput({ value, onChange }: { value: string; onChange: (login: string) => void }) {
  const t = useText(texts);
  const has = useHas();
  const lists = has('role.assign') && has('user.administer');
  const users = useQuery({
    queryKey: ['identity', 'users'],
    queryFn: ({ signal }) => call<typeof identity.listUsers>('GET', '/identity/users', { signal }),
    enabled: lists,
  });
  if (lists && users.data !== undefined) {
    return (
      <Select
        label={t.owner}
        data={users.data.map((user) => ({ value: user.login, label: `${user.displayName} (${user.login})` }))}
        value={value === '' ? null : value}
        onChange={(login) => onChange(login ?? '')}
        searchable
        limit={50}
        required
        allowDeselect={false}
      />
    );
  }
  return (
    <TextInput
      label={t.ownerLogin}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
      disabled={!has('role.assign')}
      required
    />
  );
}

function ScopeChoice({ value, onChange }: { value: string[]; onChange: (scopes: string[]) => void }) {
  const t = useText(texts);
  const language = useLanguage();
  return (
    <Stack gap="md">
      <Group gap="xs">
        <Button
          variant="default"
          onClick={() => onChange(SCOPES.filter(({ kind }) => kind !== 'admin').map(({ scope }) => scope))}
        >
          {t.all}
        </Button>
        <Button variant="default" disabled={value.length === 0} onClick={() => onChange([])}>
          {t.noneChosen}
        </Button>
      </Group>
      <div className={classes.columns}>
        {(['reading', 'writing', 'admin'] as const).map((kind) => (
          <Checkbox.Group key={kind} label={t[kind]} value={value} onChange={onChange}>
            <Stack gap={8} mt={8}>
              {SCOPES.filter((one) => one.kind === kind).map(({ scope, words }) => (
                <Checkbox key={scope} value={scope} label={words[language]} description={scope} />
              ))}
            </Stack>
          </Checkbox.Group>
        ))}
      </div>
    </Stack>
  );
}
