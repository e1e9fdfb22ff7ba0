/** Shows a secret that the service returns only once: a key, a signing secret. */
import { Alert, Button, Code, CopyButton, Group, Stack } from '@mantine/core';
import { IconCheck, IconCopy, IconKey } from '@tabler/icons-react';
import { useText } from '../i18n/text.ts';
import { texts } from './texts.ts';

export function ShownOnce({ label, secret }: { label: string; secret: string }) {
  const t = useText(texts);
  return (
    <Alert
      color="yellow"
      variant="light"
      icon={<IconKey size={18} />}
      title={label}
      styles={{ title: { color: 'var(--d-text)' } }}
    >
      <Stack gap="xs">
        {t.shownOnce}
        <Group gap="xs" wrap="nowrap">
          <Code block style={{ flex: 1, overflowWrap: 'anywhere', whiteSpace: 'pre-wrap' }} data-secret>
            {secret}
          </Code>
          <CopyButton value={secret}>
            {({ copied, copy }) => (
              <Button
                variant="default"
                onClick={copy}
                leftSection={copied ? <IconCheck size={14} /> : <IconCopy size={14} />}
              >
                {copied ? t.copied : t.copy}
              </Button>
            )}
          </CopyButton>
        </Group>
      </Stack>
    </Alert>
  );
}
