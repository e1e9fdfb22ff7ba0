import { Button, Stack, Text, Title } from '@mantine/core';
import { type ErrorComponentProps, Link } from '@tanstack/react-router';
import { ApiFault } from '../api/client.ts';
import { useText } from '../i18n/text.ts';
import { texts } from './texts.ts';

/** Shown inside the shell; outside of it, wrap it in `main`. */
export function NotFoundPage() {
  const t = useText(texts);
  return (
    <Stack align="center" gap="xs" py={96}>
      <Title order={1}>{t.notFound}</Title>
      <Text c="dimmed">{t.notFoundHint}</Text>
      <Button component={Link} to="/" variant="light">
        {t.toStart}
      </Button>
    </Stack>
  );
}

/** Shown when a screen fails, with the error's message and a retry button. */
export function FailedPage({ error, reset }: ErrorComponentProps) {
  const t = useText(texts);
  return (
    <Stack align="center" gap="xs" py={96} px="md" role="alert">
      <Title order={1}>{t.failed}</Title>
      <Text c="dimmed">
        {error instanceof ApiFault && error.status === 0
          ? t.offline
          : error instanceof Error
            ? error.message
            : String(error)}
      </Text>
      <Button variant="light" onClick={reset}>
        {t.retry}
      </Button>
    </Stack>
  );
}
