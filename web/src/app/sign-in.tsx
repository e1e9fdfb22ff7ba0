import { Alert, Anchor, Button, Divider, Paper, PasswordInput, Stack, TextInput, Title } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useRouter, useSearch } from '@tanstack/react-router';
import { type SyntheticEvent, useState } from 'react';
import { ApiFault, address } from '../api/client.ts';
import { chooseLanguage, useLanguage } from '../i18n/language.ts';
import { useText } from '../i18n/text.ts';
import { Brand } from './brand.tsx';
import { signIn } from './session.ts';
import classes from './sign-in.module.css';
import { signInWays } from './sign-in-ways.ts';
import { texts } from './texts.ts';

export function SignInPage() {
  const t = useText(texts);
  const language = useLanguage();
  const router = useRouter();
  const client = useQueryClient();
  const { to, refused } = useSearch({ from: '/sign-in' });
  const { data: ways } = useQuery(signInWays);
  const [login, setLogin] = useState('');
  const [password, setPassword] = useState('');
  const attempt = useMutation({
    mutationFn: () => signIn(client, login, password),
    onSuccess: () => router.history.push(to ?? '/'),
  });
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    attempt.mutate();
  };
  const failure = (): string => {
    const status = attempt.error instanceof ApiFault ? attempt.error.status : 401;
    if (status === 401) return t.signInFailed;
    return status === 429 ? t.signInLimited : t.offline;
  };
  const problem = attempt.isError ? failure() : refused === true ? t.signInRefused : undefined;
  return (
    <main className={classes.page}>
      <div className={classes.box}>
        <Brand large />
        <Paper withBorder p="lg" radius="md" className={classes.card}>
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
              {ways?.oidc !== undefined && ways.oidc !== null && (
                <>
                  <Divider label={t.or} />
                  <Button
                    component="a"
                    href={address('/session/oidc', { to: to ?? '/' })}
                    size="sm"
                    variant="default"
                    fullWidth
                  >
                    {t.signInWith(ways.oidc.name)}
                  </Button>
                </>
              )}
            </Stack>
          </form>
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
