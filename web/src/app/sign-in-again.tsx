/** Asks to sign in when the session has ended, without leaving the page. Refused calls wait for the answer. */
import { Alert, Button, Group, Modal, PasswordInput, Stack, Text, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type SyntheticEvent, useEffect, useState, useSyncExternalStore } from 'react';
import { address, ApiFault } from '../api/client.ts';
import { useText } from '../i18n/text.ts';
import { fetchSession, onOtherTab, sessionQuery, signedOut, signInAgain, signInWays } from './session.ts';
import { texts } from './texts.ts';

/** The calls that wait for a sign-in: one promise for all of them. */
const waiting: {
  promise: Promise<boolean> | undefined;
  userId: string | null;
  settle: (again: boolean) => void;
  listeners: Set<() => void>;
} = { promise: undefined, userId: null, settle: () => {}, listeners: new Set() };

const notify = (): void => {
  for (const listener of waiting.listeners) listener();
};

/** Opens the dialog. Resolves to true if the user signed in again, here or in another tab. */
export function askToSignIn(userId: string | null): Promise<boolean> {
  if (waiting.promise === undefined) waiting.userId = userId;
  waiting.promise ??= new Promise((resolve) => {
    waiting.settle = (again) => {
      waiting.promise = undefined;
      resolve(again);
      notify();
    };
  });
  notify();
  return waiting.promise;
}

function useWaiting(): boolean {
  return useSyncExternalStore(
    (listener) => {
      waiting.listeners.add(listener);
      return () => waiting.listeners.delete(listener);
    },
    () => waiting.promise !== undefined,
  );
}

export function SignInAgain() {
  const t = useText(texts);
  const client = useQueryClient();
  const open = useWaiting();
  const resume = useResume();
  useEffect(() => {
    if (!open) return undefined;
    // A sign-in in another tab, or with the provider, is noticed when it happens or when the user comes back.
    const stop = onOtherTab(() => void resume());
    const look = (): void => void resume();
    window.addEventListener('focus', look);
    return () => {
      stop();
      window.removeEventListener('focus', look);
    };
  }, [open, resume]);
  const giveUp = (): void => {
    signedOut(client);
    waiting.settle(false);
    window.location.assign('/sign-in');
  };
  return (
    <Modal opened={open} onClose={giveUp} title={t.sessionEnded} closeOnClickOutside={false} closeOnEscape={false}>
      <SignInAgainForm onDone={resume} onGiveUp={giveUp} />
    </Modal>
  );
}

/** Checks who is signed in, and lets the waiting calls go on if it is the same user. */
function useResume(): () => Promise<void> {
  const t = useText(texts);
  const client = useQueryClient();
  return async () => {
    const now = await fetchSession({ probe: true });
    if (now === null || waiting.promise === undefined) return;
    const same = waiting.userId === now.user.id;
    if (!same) {
      client.clear();
      notifications.show({ message: t.otherUser, color: 'yellow', autoClose: 10_000 });
    }
    client.setQueryData(sessionQuery.queryKey, now);
    waiting.settle(same);
  };
}

function SignInAgainForm({ onDone, onGiveUp }: { onDone: () => Promise<void>; onGiveUp: () => void }) {
  const t = useText(texts);
  const { data: session } = useQuery({ ...sessionQuery, enabled: false });
  const { data: ways } = useQuery(signInWays);
  const [login, setLogin] = useState('');
  const [password, setPassword] = useState('');
  const attempt = useMutation({ mutationFn: () => signInAgain(login, password), onSuccess: onDone });
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    attempt.mutate();
  };
  const status = attempt.error instanceof ApiFault ? attempt.error.status : undefined;
  const problem = status === 401 ? t.signInFailed : status === 429 ? t.signInLimited : t.offline;
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <Text size="sm">{t.sessionEndedHint(session?.user.displayName ?? '')}</Text>
        {attempt.isError && (
          <Alert color="red" variant="light" role="alert">
            {problem}
          </Alert>
        )}
        <TextInput
          label={t.login}
          value={login}
          onChange={(event) => setLogin(event.currentTarget.value)}
          autoComplete="username"
          autoCapitalize="none"
          spellCheck={false}
          required
          data-autofocus
        />
        <PasswordInput
          label={t.password}
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
          autoComplete="current-password"
          required
        />
        <Group justify="flex-end" gap="xs">
          {ways?.oidc !== undefined && ways.oidc !== null && (
            <Button component="a" href={address('/session/oidc', { to: '/' })} target="_blank" variant="default">
              {t.signInWith(ways.oidc.name)}
            </Button>
          )}
          <Button variant="subtle" color="gray" onClick={onGiveUp}>
            {t.signOut}
          </Button>
          <Button type="submit" loading={attempt.isPending}>
            {t.signIn}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
