/** Dry run of an integration: the call that the mapping makes from a body, and the answer. */
import { Button, Group, JsonInput, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { call } from '../../api/client.ts';
import type { inbound } from '../../api/types.ts';
import { useText } from '../../i18n/text.ts';
import { useAction } from '../../ui/action.ts';
import { FaultAlert } from '../../ui/fault.tsx';
import { Raw, ToneMark } from '../connections/tone.tsx';
import type { Integration } from './queries.ts';
import { texts } from './texts.ts';

/** A sample body with all paths that the mapping reads. */
function sampleOf({ config }: Integration): string {
  const sample: Record<string, unknown> = {};
  for (const { source } of config.mapping) {
    const steps = source.split('.');
    let at = sample;
    for (const [index, step] of steps.entries()) {
      // Own properties only: a path such as `__proto__` must not reach the prototype.
      if (!Object.hasOwn(at, step)) {
        const value = index === steps.length - 1 ? '' : {};
        Object.defineProperty(at, step, { value, enumerable: true, writable: true, configurable: true });
      }
      const next = at[step];
      if (typeof next !== 'object' || next === null) break;
      at = next as Record<string, unknown>;
    }
  }
  return JSON.stringify(sample, null, 2);
}

export function TryOut({ integration }: { integration: Integration }) {
  const t = useText(texts);
  const [text, setText] = useState(() => sampleOf(integration));
  const [problem, setProblem] = useState<string>();
  const run = useAction({
    run: (body: unknown) =>
      call<typeof inbound.tryIntegration>('POST', `/integrations/${integration.id}/try`, { body: { body } }),
    quiet: true,
  });
  const start = (): void => {
    try {
      const body = JSON.parse(text) as unknown;
      setProblem(undefined);
      run.mutate(body);
    } catch {
      setProblem(t.notJson);
    }
  };
  return (
    <Stack gap="sm">
      <JsonInput
        label={t.body}
        description={t.tryHint}
        size="xs"
        autosize
        minRows={4}
        maxRows={16}
        value={text}
        onChange={setText}
        error={problem}
      />
      <Group>
        <Button variant="default" loading={run.isPending} onClick={start}>
          {t.run}
        </Button>
      </Group>
      <FaultAlert error={run.error} />
      {run.data !== undefined && (
        <Stack gap="xs" role="status">
          <Text size="sm">{t.wouldBe}</Text>
          <Raw label={t.wouldBe}>
            {`${run.data.request.method} ${run.data.request.path}\n${JSON.stringify(run.data.request.body, null, 2)}`}
          </Raw>
          <Group gap="xs">
            <Text size="sm">{t.answer}</Text>
            <ToneMark tone={run.data.error === null ? 'good' : 'bad'}>{String(run.data.status)}</ToneMark>
          </Group>
          <Raw label={t.answer}>{JSON.stringify(run.data.error ?? run.data.data, null, 2)}</Raw>
        </Stack>
      )}
    </Stack>
  );
}
