/** Sign-in methods other than a password. */
import { Alert, Anchor, Button, Divider, Paper, PasswordInput, Stack, TextInput, Title } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useRouter, useSearch } from '@tanstack/react-router';
import { type SyntheticEvent, useState } from 'react';
import { address, ApiFault } from '../api/client.ts';
import { chooseLanguage, useLanguage } from '../i18n/language.ts';
import { useText } from '../i18n/text.ts';
import { Brand } from './brand.tsx';
import { signIn, signInWays } from './session.ts';
import classes from './sign-in.module.css';
import { texts } from './texts.ts';

export function SignInPage() {
  const language = useLanguage();
  return (
    <main className={classes.page}>
      <div className={classes.box}>
        <Brand large />
        <Paper withBorder p="lg" radius="md" className={classes.card}>
          <SignInForm />
        </Paper>
        <Anchor
          component="button"
          size="sm"
          lang={language === 'ru-RU' ? 'en' : 'ru'}
          onClick={() => chooseLanguage(language === 'ru-RU' ? 'en-US' : 'ru-RU')}
        >
          {language === 'ru-RU' ? 'English' : 'Русский'}
        </Anchor>
      </div>
    </main>
  );
}

function SignInForm() {
  const t = useText(texts);
  const { refused } = useSearch({ from: '/sign-in' });
  const [login, setLogin] = useState('');
  const [password, setPassword] = useState('');
  const attempt = useSignIn();
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    attempt.mutate({ login, password });
  };
  const problem = attempt.problem ?? (refused === true ? t.signInRefused : undefined);
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <Title order={1} size="h2">
          {t.signInTitle}
        </Title>
        {problem !== undefined && (
          <Alert color="red" variant="light" role="alert">
            {problem}
          </Alert>
        )}
        <TextInput
          size="sm"
          label={t.login}
          value={login}
          onChange={(event) => setLogin(event.currentTarget.value)}
          autoComplete="username"
          autoCapitalize="none"
          spellCheck={false}
          required
          autoFocus
        />
        <PasswordInput
          size="sm"
          label={t.password}
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
          autoComplete="current-password"
          required
        />
        <Button type="submit" size="sm" loading={attempt.isPending} fullWidth>
          {t.signIn}
        </Button>
        <OtherSignIn />
      </Stack>
    </form>
  );
}

/** The link to the configured sign-in provider, if there is one. */
function OtherSignIn() {
  const t = useText(texts);
  const { to } = useSearch({ from: '/sign-in' });
  const { data: ways } = useQuery(signInWays);
  if (ways?.oidc === undefined || ways.oidc === null) return null;
  return (
    <>
      <Divider label={t.or} />
      <Button component="a" href={address('/session/oidc', { to: to ?? '/' })} size="sm" variant="default" fullWidth>
        {t.signInWith(ways.oidc.name)}
      </Button>
    </>
  );
}

/** Signs in and goes to the page that was asked for. `problem` says why the last attempt failed. */
function useSignIn() {
  const t = useText(texts);
  const router = useRouter();
  const client = useQueryClient();
  const { to } = useSearch({ from: '/sign-in' });
  const attempt = useMutation({
    mutationFn: ({ login, password }: { login: string; password: string }) => signIn(client, login, password),
    onSuccess: () => router.history.push(to ?? '/'),
  });
  const problem = (): string | undefined => {
    if (!attempt.isError) return undefined;
    const status = attempt.error instanceof ApiFault ? attempt.error.status : 401;
    if (status === 401) return t.signInFailed;
    return status === 429 ? t.signInLimited : t.offline;
  };
  return { ...attempt, problem: problem() };
}
