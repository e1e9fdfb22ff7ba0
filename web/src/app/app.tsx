/** Providers around all screens: theme, texts, query cache, notifications, confirmations and the router. */
import { MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { useEffect, useMemo } from 'react';
import { onSessionEnded, onTokenRefused } from '../api/client.ts';
import { onWhyRefused, RefusalHost } from '../ui/fault.tsx';
import { followLanguage, useLanguage } from '../i18n/language.ts';
import { useText } from '../i18n/text.ts';
import { invalidate } from '../ui/action.ts';
import { ConfirmHost } from '../ui/confirm.tsx';
import { removeOldDrafts } from '../ui/device-draft.ts';
import { NoticesHost } from '../ui/notify.tsx';
import { queryClient } from './query-client.ts';
import { router } from './router.tsx';
import { onOtherTab, renewToken, sessionQuery } from './session.ts';
import { askToSignIn, SignInAgain } from './sign-in-again.tsx';
import { texts } from './texts.ts';
import { cssVariables, themeOf } from './theme.ts';

export function App({ nonce }: { nonce: string }) {
  const t = useText(texts);
  const language = useLanguage();
  const theme = useMemo(() => themeOf(t.close), [t.close]);
  useEffect(() => {
    onWhyRefused(async () => (await import('../admin/roles/request-steps.tsx')).RefusalDialog);
    onTokenRefused(() => renewToken(queryClient));
    onSessionEnded(async () => {
      const known = queryClient.getQueryData(sessionQuery.queryKey);
      return known !== undefined && known !== null && (await askToSignIn(known.user.id));
    });
    removeOldDrafts(Date.now());
    return onOtherTab((userId) => {
      const known = queryClient.getQueryData(sessionQuery.queryKey);
      if (known !== undefined && known !== null && known.user.id !== userId) void renewToken(queryClient);
    });
  }, []);
  // Names in answers depend on the requested language.
  useEffect(() => followLanguage(() => void invalidate(queryClient, [])), []);
  return (
    <MantineProvider
      theme={theme}
      defaultColorScheme="auto"
      cssVariablesResolver={cssVariables}
      getStyleNonce={() => nonce}
    >
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} context={{ language }} />
        <NoticesHost />
        <ConfirmHost />
        <RefusalHost />
        <SignInAgain />
      </QueryClientProvider>
    </MantineProvider>
  );
}
