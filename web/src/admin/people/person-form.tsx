/** Form of a new or existing user. */
import { Autocomplete, Button, Group, SimpleGrid, Stack, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { ApiFault, call } from '../../api/client.ts';
import type { identity, identityAdmin } from '../../api/types.ts';
import { useText } from '../../i18n/text.ts';
import { useAction } from '../../ui/action.ts';
import { FaultAlert } from '../../ui/fault.tsx';
import { IDENTITY, type User } from './queries.ts';
import { texts } from './texts.ts';

const PROPERTIES = ['displayName', 'email', 'locale', 'timezone', 'employeeId', 'externalId'] as const;
type Property = (typeof PROPERTIES)[number];
const LANGUAGES = ['ru-RU', 'en-US'];
const ZONES = Intl.supportedValuesOf('timeZone');
const NEEDED: ReadonlySet<string> = new Set(['displayName', 'email']);

export function PersonForm({ user, onCreated }: { user?: User; onCreated?: (user: User) => void }) {
  const t = useText(texts);
  const [login, setLogin] = useState(user?.login ?? '');
  const [values, setValues] = useState<Readonly<Record<Property, string>>>(() => ({
    displayName: user?.displayName ?? '',
    email: user?.email ?? '',
    locale: user?.locale ?? '',
    timezone: user?.timezone ?? '',
    employeeId: user?.employeeId ?? '',
    externalId: user?.externalId ?? '',
  }));
  const changed = PROPERTIES.filter((key) => values[key] !== (user?.[key] ?? ''));
  const save = useAction({
    run: async (): Promise<User> => {
      const given = Object.fromEntries(
        changed.map((key) => [key, values[key] === '' && !NEEDED.has(key) ? null : values[key]]),
      );
      if (user !== undefined) {
        return await call<typeof identityAdmin.changeUser>('PATCH', `/identity/users/${user.id}`, {
          body: { expectedRevision: user.revision, ...given },
        });
      }
      const { displayName, email } = values;
      return await call<typeof identity.createUser>('POST', '/identity/users', {
        body: { ...given, login, displayName, email },
      });
    },
    touches: IDENTITY,
    done: user === undefined ? t.created : t.saved,
    after: (saved) => onCreated?.(saved),
    quiet: true,
  });
  const places = save.error instanceof ApiFault ? save.error.places : [];
  const problem = (key: string): string | undefined => places.find(({ path }) => path.endsWith(`/${key}`))?.message;
  const send = (event: FormEvent): void => {
    event.preventDefault();
    save.mutate();
  };
  const locked = user?.state === 'ARCHIVED';
  return (
    <form onSubmit={send}>
      <Stack gap="sm">
        {user === undefined && (
          <TextInput
            label={t.login}
            description={t.codeHint}
            value={login}
            required
            autoComplete="off"
            error={problem('login')}
            onChange={(event) => setLogin(event.currentTarget.value)}
          />
        )}
        <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
          {PROPERTIES.map((key) =>
            key === 'locale' || key === 'timezone' ? (
              <Autocomplete
                key={key}
                label={t[key]}
                value={values[key]}
                disabled={locked}
                error={problem(key)}
                data={key === 'locale' ? LANGUAGES : ZONES}
                limit={50}
                placeholder={key === 'locale' ? 'ru-RU' : 'Europe/Moscow'}
                onChange={(value) => setValues({ ...values, [key]: value })}
              />
            ) : (
              <TextInput
                key={key}
                label={t[key]}
                value={values[key]}
                required={NEEDED.has(key)}
                disabled={locked}
                error={problem(key)}
                autoComplete="off"
                type={key === 'email' ? 'email' : 'text'}
                onChange={(event) => setValues({ ...values, [key]: event.currentTarget.value })}
              />
            ),
          )}
        </SimpleGrid>
        <FaultAlert error={save.error} />
        <Group>
          <Button type="submit" loading={save.isPending} disabled={locked || changed.length === 0}>
            {user === undefined ? t.create : t.save}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
