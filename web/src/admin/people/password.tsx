/** Sets a user's console password. It cannot be read afterwards, and the user's sessions end. */
import { Button, Group, PasswordInput, Stack, Text } from '@mantine/core';
import { type SyntheticEvent, useState } from 'react';
import { call } from '../../api/client.ts';
import type { access } from '../../api/types.ts';
import { useSession } from '../../app/session.ts';
import { useText } from '../../i18n/text.ts';
import { useAction } from '../../ui/action.ts';
import { confirm } from '../../ui/confirm.tsx';
import { FaultAlert } from '../../ui/fault.tsx';
import type { User } from './queries.ts';
import { texts } from './texts.ts';

/** Minimum length, as in the service (src/domain/access/contract.ts). */
const SHORTEST = 12;

export function PasswordForm({ user }: { user: User }) {
  const t = useText(texts);
  const own = useSession().user.id === user.id;
  const [password, setPassword] = useState('');
  const [left, setLeft] = useState(false);
  const save = useAction({
    run: () => call<typeof access.setPassword>('POST', `/identity/users/${user.id}/password`, { body: { password } }),
    done: t.passwordSet,
    after: () => {
      setPassword('');
      setLeft(false);
    },
    // The current user's own session ends too: the next request leads to the sign-in page.
    touches: own ? [[]] : [],
    quiet: true,
  });
  const short = password.length < SHORTEST;
  const send = async (event: SyntheticEvent): Promise<void> => {
    event.preventDefault();
    if (short) {
      setLeft(true);
      return;
    }
    const question = {
      title: t.passwordTitle(user.displayName),
      body: own ? t.passwordOwn : t.passwordBody,
      yes: t.setPassword,
    };
    if (await confirm(question)) save.mutate();
  };
  return (
    <form onSubmit={(event) => void send(event)}>
      <Stack gap="sm">
        <Text size="xs" c="dimmed">
          {t.passwordHint}
        </Text>
        <PasswordInput
          label={t.password}
          value={password}
          autoComplete="new-password"
          onChange={(event) => setPassword(event.currentTarget.value)}
          onBlur={() => setLeft(password !== '')}
          error={left && short ? t.passwordShort(SHORTEST) : undefined}
          visibilityToggleButtonProps={{ 'aria-label': t.showPassword }}
        />
        <FaultAlert error={save.error} />
        <Group>
          <Button type="submit" variant="default" loading={save.isPending} disabled={password === ''}>
            {t.setPassword}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
