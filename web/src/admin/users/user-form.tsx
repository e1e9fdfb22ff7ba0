/** Form of a new or existing user. */
import { Autocomplete, SimpleGrid, TextInput } from '@mantine/core';
import { call } from '../../api/client.ts';
import type { identity, identityAdmin } from '../../api/types.ts';
import { useText } from '../../i18n/text.ts';
import { type Form, FormFrame, useForm } from '../../ui/form.tsx';
import { IDENTITY, type User } from './queries.ts';
import { texts } from './texts.ts';
import { isArchived } from '../../../../src/contract/state.ts';

const PROPERTIES = ['displayName', 'email', 'locale', 'timezone', 'employeeId', 'externalId'] as const;
type Property = (typeof PROPERTIES)[number];
const LANGUAGES = ['ru-RU', 'en-US'];
const ZONES = Intl.supportedValuesOf('timeZone');
const REQUIRED: ReadonlySet<string> = new Set(['displayName', 'email']);

export function UserForm({ user, onCreated }: { user?: User; onCreated?: (user: User) => void }) {
  const t = useText(texts);
  const isNew = user === undefined;
  const archived = isArchived(user);
  const form = useForm({
    start: {
      login: user?.login ?? '',
      ...(Object.fromEntries(PROPERTIES.map((key) => [key, user?.[key] ?? ''])) as Record<Property, string>),
    },
    send: ({ login, displayName, email }, changed): Promise<User> => {
      const given = Object.fromEntries(
        Object.entries(changed).map(([key, value]) => [key, value === '' && !REQUIRED.has(key) ? null : value]),
      );
      return isNew
        ? call<typeof identity.createUser>('POST', '/identity/users', { body: { ...given, login, displayName, email } })
        : call<typeof identityAdmin.changeUser>('PATCH', `/identity/users/${user.id}`, {
            body: { expectedRevision: user.revision, ...given },
          });
    },
    ready: (_values, changed) => !archived && PROPERTIES.some((key) => key in changed),
    touches: IDENTITY,
    done: isNew ? t.created : t.saved,
    after: (saved) => onCreated?.(saved),
  });
  return (
    <FormFrame form={form} label={isNew ? t.create : t.save}>
      {isNew && (
        <TextInput label={t.login} description={t.codeHint} required autoComplete="off" {...form.text('login')} />
      )}
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
        {PROPERTIES.map((key) => (
          <PropertyInput key={key} property={key} form={form} disabled={archived} />
        ))}
      </SimpleGrid>
    </FormFrame>
  );
}

interface PropertyInputProps {
  property: Property;
  form: Form<Record<Property | 'login', string>>;
  disabled: boolean;
}

function PropertyInput({ property, form, disabled }: PropertyInputProps) {
  const t = useText(texts);
  if (property === 'locale' || property === 'timezone') {
    return (
      <Autocomplete
        label={t[property]}
        disabled={disabled}
        data={property === 'locale' ? LANGUAGES : ZONES}
        limit={50}
        placeholder={property === 'locale' ? 'ru-RU' : 'Europe/Moscow'}
        {...form.input(property)}
      />
    );
  }
  return (
    <TextInput
      label={t[property]}
      required={REQUIRED.has(property)}
      disabled={disabled}
      autoComplete="off"
      type={property === 'email' ? 'email' : 'text'}
      {...form.text(property)}
    />
  );
}
