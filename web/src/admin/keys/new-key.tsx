/** Form to issue a key: owner, scopes, expiry and allowed addresses. */
import { Button, Checkbox, Group, Select, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { call } from '../../api/client.ts';
import type { access, identity } from '../../api/types.ts';
import { useHas, useSession } from '../../app/session.ts';
import { useLanguage } from '../../i18n/language.ts';
import { useText } from '../../i18n/text.ts';
import { FormFrame, useForm } from '../../ui/form.tsx';
import { Page, Panel } from '../../ui/page.tsx';
import { ShownOnce } from '../../ui/shown-once.tsx';
import classes from './keys.module.css';
import { SCOPES } from './scopes.ts';
import { texts } from './texts.ts';

const TERMS = [30, 90, 365] as const;
const DAY_MS = 86_400_000;

export function NewKey() {
  const t = useText(texts);
  const { user } = useSession();
  const [issued, setIssued] = useState<{ name: string; key: string }>();
  const form = useForm({
    start: { owner: user.login ?? '', name: '', scopes: [] as string[], term: '90', allow: '' },
    send: ({ owner, name, scopes, term, allow }) =>
      call<typeof access.createKey>('POST', '/keys', {
        body: {
          owner: owner.trim(),
          name: name.trim(),
          scopes,
          allow: allow.split(/[\s,]+/).filter((range) => range !== ''),
          ...(term === '' ? {} : { expiresAt: new Date(Date.now() + Number(term) * DAY_MS).toISOString() }),
        },
      }),
    ready: ({ name, scopes }) => scopes.length > 0 && name.trim() !== '',
    touches: [['keys']],
    after: ({ key }, { name }) => setIssued({ name, key }),
  });
  if (issued !== undefined) return <IssuedKey name={issued.name} secret={issued.key} />;
  const terms = TERMS.map((days) => ({ value: String(days), label: t.days(days) }));
  const hint = form.values.scopes.length === 0 && (
    <Text size="xs" c="dimmed">
      {t.scopesMissing}
    </Text>
  );
  return (
    <Page title={t.create} back={{ label: t.back, href: '/admin/keys' }} narrow>
      <FormFrame form={form} label={t.create} note={hint}>
        <Panel>
          <Stack gap="sm">
            <OwnerInput {...form.input('owner')} />
            <TextInput label={t.name} description={t.nameHint} required maxLength={200} {...form.text('name')} />
            <Select
              label={t.expiry}
              data={[...terms, { value: '', label: t.never }]}
              value={form.values.term}
              allowDeselect={false}
              onChange={(term) => form.set({ term: term ?? '' })}
            />
            <Textarea label={t.allow} description={t.allowHint} autosize minRows={1} {...form.text('allow')} />
          </Stack>
        </Panel>
        <Panel title={t.scopes}>
          <ScopeChoice {...form.input('scopes')} />
        </Panel>
      </FormFrame>
    </Page>
  );
}

/** The new key, which is shown only once. */
function IssuedKey({ name, secret }: { name: string; secret: string }) {
  const t = useText(texts);
  const navigate = useNavigate();
  return (
    <Page title={name} back={{ label: t.back, href: '/admin/keys' }} narrow>
      <Stack gap="md">
        <ShownOnce label={t.issued} secret={secret} />
        <Group>
          <Button onClick={() => void navigate({ to: '/admin/$', params: { _splat: 'keys' } })}>{t.toList}</Button>
        </Group>
      </Stack>
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
