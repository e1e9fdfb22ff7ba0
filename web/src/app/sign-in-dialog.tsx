/** The dialog in which the user of an ended session signs in again. */
import { Alert, Button, Group, Modal, PasswordInput, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type SyntheticEvent, useEffect, useState } from 'react';
import { address, ApiFault } from '../api/client.ts';
import { useText } from '../i18n/text.ts';
import { notify } from '../ui/notify.tsx';
import { fetchSession, onOtherTab, sessionQuery, signedOut, signInAgain, signInWays } from './session.ts';
import { texts } from './texts.ts';

export interface SignInDialogProps {
  /** The user of the ended session. */
  userId: string | null;
  /** Called once: with true if this user signed in again, here or in another tab. */
  onSettled: (again: boolean) => void;
}

export function SignInDialog({ userId, onSettled }: SignInDialogProps) {
  const t = useText(texts);
  const client = useQueryClient();
  const resume = useResume(userId, onSettled);
  useEffect(() => {
    // A sign-in in another tab, or with the provider, is noticed when it happens or when the user comes back.
    const stop = onOtherTab(() => void resume());
    const look = (): void => void resume();
    window.addEventListener('focus', look);
    return () => {
      stop();
      window.removeEventListener('focus', look);
    };
  }, [resume]);
  const giveUp = (): void => {
    signedOut(client);
    onSettled(false);
    window.location.assign('/sign-in');
  };
  return (
    <Modal opened onClose={giveUp} title={t.sessionEnded} closeOnClickOutside={false} closeOnEscape={false}>
      <SignInAgainForm onDone={resume} onGiveUp={giveUp} />
    </Modal>
  );
}

/** Checks who is signed in, and lets the waiting calls go on if it is the same user. */
function useResume(userId: string | null, onSettled: (again: boolean) => void): () => Promise<void> {
  const t = useText(texts);
  const client = useQueryClient();
  return async () => {
    const now = await fetchSession({ probe: true });
    if (now === null) return;
    const same = userId === now.user.id;
    if (!same) {
      client.clear();
      notify({ message: t.otherUser, color: 'yellow', autoClose: 10_000 });
    }
    client.setQueryData(sessionQuery.queryKey, now);
    onSettled(same);
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
