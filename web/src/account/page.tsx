/** The own account: profile, password, sessions and API keys. */
import { Autocomplete, Button, Group, Loader, PasswordInput, Select, SimpleGrid, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { type AnswerOf, call } from '../api/client.ts';
import type { access, me } from '../api/types.ts';
import { sessionQuery, useHas } from '../app/session.ts';
import { chooseLanguage, LANGUAGE_NAMES, LANGUAGES } from '../i18n/language.ts';
import { useText } from '../i18n/text.ts';
import { DataTable } from '../ui/data-table.tsx';
import { FaultAlert } from '../ui/fault.tsx';
import { FormFrame, useForm } from '../ui/form.tsx';
import { Page, Panel } from '../ui/page.tsx';
import { Time } from '../ui/time.tsx';
import { SessionList } from './sessions.tsx';
import { texts } from './texts.ts';

type Profile = AnswerOf<typeof me.getProfile>;

const PROFILE = ['me'] as const;
const ZONES = Intl.supportedValuesOf('timeZone');
/** Minimum length, as in the service (src/domain/access/contract.ts). */
const SHORTEST_PASSWORD = 12;
/** Descriptions below the inputs, so that inputs of a row are in line. */
const BELOW = {
  inputWrapperOrder: ['label', 'input', 'description', 'error'] as ('label' | 'input' | 'description' | 'error')[],
};

export function AccountPage() {
  const t = useText(texts);
  const has = useHas();
  const profile = useQuery({
    queryKey: PROFILE,
    queryFn: ({ signal }) => call<typeof me.getProfile>('GET', '/me', { signal }),
  });
  return (
    <Page title={t.title} narrow>
      <FaultAlert error={profile.error} retry={() => void profile.refetch()} />
      <Panel title={t.profile}>
        {profile.data === undefined ? <Loader size="sm" /> : <ProfileForm profile={profile.data} />}
      </Panel>
      <PasswordPanel />
      <SessionList />
      {has('key.manage') && profile.data !== undefined && <OwnKeys ownerId={profile.data.id} />}
    </Page>
  );
}

function ProfileForm({ profile }: { profile: Profile }) {
  const t = useText(texts);
  const form = useForm({
    start: {
      displayName: profile.displayName,
      locale: profile.locale ?? '',
      timezone: profile.timezone ?? '',
    },
    send: (_values, { displayName, locale, timezone }) =>
      call<typeof me.changeProfile>('PATCH', '/me', {
        body: {
          expectedRevision: profile.revision,
          ...(displayName === undefined ? {} : { displayName }),
          ...(locale === undefined ? {} : { locale: locale === '' ? null : locale }),
          ...(timezone === undefined ? {} : { timezone: timezone === '' ? null : timezone }),
        },
      }),
    ready: (values, changed) => values.displayName.trim() !== '' && Object.keys(changed).length > 0,
    touches: [PROFILE, sessionQuery.queryKey],
    done: t.saved,
    after: ({ locale }) => {
      const language = LANGUAGES.find((one) => one === locale);
      if (language !== undefined && locale !== profile.locale) chooseLanguage(language);
    },
  });
  return (
    <FormFrame form={form} label={t.save}>
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
        <TextInput label={t.name} required autoComplete="name" {...form.text('displayName')} />
        <Select
          label={t.language}
          data={LANGUAGES.map((value) => ({ value, label: LANGUAGE_NAMES[value] }))}
          clearable
          {...form.input('locale')}
          onChange={(value) => form.set({ locale: value ?? '' })}
        />
        <Autocomplete
          label={t.timezone}
          data={ZONES}
          limit={50}
          placeholder="Europe/Moscow"
          {...form.input('timezone')}
        />
        <TextInput label={t.login} {...BELOW} description={t.byAdministrator} value={profile.login} readOnly />
        <TextInput label={t.email} {...BELOW} description={t.byAdministrator} value={profile.email ?? ''} readOnly />
      </SimpleGrid>
    </FormFrame>
  );
}

function PasswordPanel() {
  // A saved form starts again, with empty inputs.
  const [round, setRound] = useState(0);
  const t = useText(texts);
  return (
    <Panel title={t.password}>
      <Text size="xs" c="dimmed" mb="sm">
        {t.passwordHint}
      </Text>
      <PasswordForm key={round} onSaved={() => setRound(round + 1)} />
    </Panel>
  );
}

function PasswordForm({ onSaved }: { onSaved: () => void }) {
  const t = useText(texts);
  const form = useForm({
    start: { oldPassword: '', newPassword: '' },
    send: (body) => call<typeof me.changePassword>('POST', '/me/password', { body }),
    ready: ({ oldPassword, newPassword }) => oldPassword !== '' && newPassword.length >= SHORTEST_PASSWORD,
    touches: [['own-sessions']],
    done: t.passwordChanged,
    after: onSaved,
  });
  const toggle = { visibilityToggleButtonProps: { 'aria-label': t.showPassword } };
  return (
    <FormFrame form={form} label={t.changePassword}>
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
        <PasswordInput
          label={t.oldPassword}
          autoComplete="current-password"
          {...toggle}
          {...form.text('oldPassword')}
        />
        <PasswordInput
          label={t.newPassword}
          description={t.newPasswordHint(SHORTEST_PASSWORD)}
          {...BELOW}
          autoComplete="new-password"
          {...toggle}
          {...form.text('newPassword')}
        />
      </SimpleGrid>
    </FormFrame>
  );
}

function OwnKeys({ ownerId }: { ownerId: string }) {
  const t = useText(texts);
  const keys = useQuery({
    queryKey: ['keys'],
    queryFn: ({ signal }) => call<typeof access.listKeys>('GET', '/keys', { signal }),
  });
  const link = (label: string, to: string) => (
    <Button
      size="xs"
      variant="default"
      renderRoot={(props) => <Link to="/admin/$" params={{ _splat: to }} {...props} />}
    >
      {label}
    </Button>
  );
  return (
    <Panel
      title={t.keys}
      actions={
        <Group gap="xs">
          {link(t.allKeys, 'keys')}
          {link(t.newKey, 'keys/new')}
        </Group>
      }
    >
      <FaultAlert error={keys.error} retry={() => void keys.refetch()} />
      <DataTable
        label={t.keys}
        short
        rows={keys.data?.filter((key) => key.ownerId === ownerId && key.revokedAt === null)}
        rowKey={(row) => row.id}
        empty={t.keysNone}
        columns={[
          { key: 'name', title: t.keyName, value: (row) => row.name },
          {
            key: 'used',
            title: t.keyUsed,
            value: (row) => row.lastUsedAt ?? '',
            render: (row) => (row.lastUsedAt === null ? t.keyUnused : <Time at={row.lastUsedAt} />),
          },
          {
            key: 'expires',
            title: t.keyExpires,
            value: (row) => row.expiresAt ?? '',
            render: (row) => (row.expiresAt === null ? t.keyNever : <Time at={row.expiresAt} absolute />),
          },
        ]}
      />
    </Panel>
  );
}
