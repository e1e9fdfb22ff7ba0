/** A form that explains how any request of a user would be decided. */
import { Button, Group, NativeSelect, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useText } from '../../i18n/text.ts';
import { Panel } from '../../ui/page.tsx';
import { type RequestBody, RequestSteps } from './request-steps.tsx';
import { requestTexts } from './request-texts.ts';

const METHODS = ['GET', 'POST', 'PATCH', 'PUT', 'DELETE'] as const;
type Method = (typeof METHODS)[number];

/** Undefined for a text that is not JSON. */
function parsed(text: string): { body?: unknown } | undefined {
  if (text.trim() === '') return {};
  try {
    return { body: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}

export function RequestCheck({ userId, objectId }: { userId: string; objectId: string | null }) {
  const t = useText(requestTexts);
  const [method, setMethod] = useState<Method>('GET');
  const [path, setPath] = useState(`/api/v1/objects${objectId === null ? '' : `/${objectId}`}`);
  const [text, setText] = useState('');
  const [asked, setAsked] = useState<RequestBody>();
  const given = parsed(text);
  return (
    <Panel title={t.panel}>
      <Stack gap="sm">
        <Text size="sm" c="dimmed">
          {t.hint}
        </Text>
        <Group gap="sm" align="flex-end" wrap="wrap">
          <NativeSelect
            label={t.method}
            data={[...METHODS]}
            value={method}
            onChange={(event) => setMethod(event.currentTarget.value as Method)}
          />
          <TextInput
            label={t.path}
            value={path}
            flex="1 1 16rem"
            onChange={(event) => setPath(event.currentTarget.value)}
          />
        </Group>
        {method !== 'GET' && (
          <Textarea
            label={t.body}
            value={text}
            autosize
            minRows={2}
            error={given === undefined ? t.wrongBody : undefined}
            onChange={(event) => setText(event.currentTarget.value)}
          />
        )}
        <Group>
          <Button
            disabled={path.trim() === '' || given === undefined}
            onClick={() => setAsked({ user: userId, method, path: path.trim(), ...(method === 'GET' ? {} : given) })}
          >
            {t.explain}
          </Button>
        </Group>
        {asked !== undefined && <RequestSteps request={asked} />}
      </Stack>
    </Panel>
  );
}
