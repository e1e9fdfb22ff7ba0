/** One integration: its properties, a dry run of its mapping, and its last calls. */
import { Anchor, Button, Group, JsonInput, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { call } from '../../api/client.ts';
import type { inbound } from '../../api/types.ts';
import { deskTypesQuery } from '../../desk/queries.ts';
import { labelText, useLabels } from '../../fields/labels.ts';
import { useFormats } from '../../i18n/format.ts';
import { useText } from '../../i18n/text.ts';
import { useAction } from '../../ui/action.ts';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { FaultAlert, useNotedFaultText } from '../../ui/fault.tsx';
import { Panel } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { ConnectionMark, ConnectionPage, type ConnectionState, FoundConnection } from '../connections/connection.tsx';
import { Facts, Raw, ToneMark } from '../connections/tone.tsx';
import { IntegrationForm } from './integration-form.tsx';
import {
  type Call,
  callsQuery,
  type Command,
  type Integration,
  integrationsKey,
  integrationsQuery,
} from './queries.ts';
import { texts } from './texts.ts';
import { Dialog } from '../../ui/dialog.tsx';

const BACK = '/admin/integrations';

export function IntegrationPage({ id }: { id: string }) {
  const t = useText(texts);
  const query = useQuery(integrationsQuery);
  return (
    <FoundConnection id={id} query={query} title={t.title} back={{ label: t.back, href: BACK }} gone={t.gone}>
      {(integration) => <Known integration={integration} />}
    </FoundConnection>
  );
}

function Known({ integration }: { integration: Integration }) {
  const t = useText(texts);
  const labels = useLabels(integration.executionPrincipalId === null ? [] : [integration.executionPrincipalId]);
  const { data: types = [] } = useQuery(deskTypesQuery);
  const connection = integration as unknown as ConnectionState;
  const { config } = integration;
  const type = types.find((one) => one.id === config.typeDefinitionId || one.code === config.typeDefinitionId);
  const address = `POST ${location.origin}/api/v1/inbound/${integration.id}`;
  return (
    <ConnectionPage
      connection={connection}
      back={{ label: t.back, href: BACK }}
      meaning={t.enableMeaning}
      run={(step) => call<typeof inbound.enableIntegration>('POST', `/integrations/${integration.id}/${step}`)}
      done={{ enable: t.enabledNow, disable: t.disabledNow, archive: t.archivedNow, restore: t.restoredNow }}
      touches={integrationsKey}
      form={(opened, close) => (
        <IntegrationForm opened={opened} onClose={close} onSaved={close} integration={integration} />
      )}
    >
      <Panel>
        <Facts
          facts={[
            [t.state, <ConnectionMark key="state" connection={connection} />],
            [t.command, t[config.command as Command]],
            ...(type === undefined ? [] : [[t.type, type.name] as const]),
            [t.executor, labelText(labels.get(integration.executionPrincipalId ?? '')) ?? ''],
            [
              t.address,
              <Raw key="address" label={t.address}>
                {address}
              </Raw>,
            ],
            [
              t.mapping,
              <Raw key="mapping" label={t.mapping}>
                {config.mapping.map(({ source, target }) => `${source} → ${target}`).join('\n')}
              </Raw>,
            ],
          ]}
        />
      </Panel>
      <Panel title={t.tryOut}>
        <TryOut integration={integration} />
      </Panel>
      <Panel title={t.log}>
        <CallsTable id={integration.id} />
      </Panel>
    </ConnectionPage>
  );
}

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

export function CallsTable({ id }: { id: string }) {
  const t = useText(texts);
  const { data, error, refetch } = useQuery(callsQuery(id));
  const say = useNotedFaultText();
  const [open, setOpen] = useState<Call>();
  const columns = useMemo((): Column<Call>[] => {
    const outcome = (row: Call): string => ((row.status as string) === 'SUCCEEDED' ? t.SUCCEEDED : t.FAILED);
    return [
      {
        key: 'at',
        title: t.at,
        value: (row) => row.at,
        render: (row) => <Time at={row.at} absolute />,
        width: '11rem',
      },
      {
        key: 'status',
        title: t.outcome,
        value: outcome,
        render: (row) => <ToneMark tone={row.error === null ? 'good' : 'bad'}>{outcome(row)}</ToneMark>,
        width: '8rem',
      },
      { key: 'reason', title: t.reason, value: (row) => (row.error === null ? '' : say(row.error)) },
      { key: 'owner', title: t.owner, value: (row) => row.owner?.displayName ?? '', minor: true },
    ];
  }, [t, say]);
  return (
    <>
      <FaultAlert error={error} retry={() => void refetch()} />
      <DataTable
        label={t.log}
        columns={columns}
        rows={data}
        rowKey={(row) => row.id}
        onOpen={setOpen}
        empty={t.noRuns}
      />
      <Dialog opened={open !== undefined} onClose={() => setOpen(undefined)} title={t.call} size="lg">
        {open !== undefined && <CallDetails made={open} />}
      </Dialog>
    </>
  );
}

function CallDetails({ made }: { made: Call }) {
  const t = useText(texts);
  const format = useFormats();
  const { objectId, error } = made;
  return (
    <Stack gap="sm">
      <Facts
        facts={[
          [t.at, format.exact(made.at)],
          [t.owner, made.owner?.displayName ?? ''],
          [t.correlation, made.correlationId],
          ...(objectId === null
            ? []
            : [
                [
                  t.record,
                  <Anchor
                    key="record"
                    size="sm"
                    renderRoot={(props) => <Link to="/records/$recordId" params={{ recordId: objectId }} {...props} />}
                  >
                    {t.open}
                  </Anchor>,
                ] as const,
              ]),
        ]}
      />
      {error !== null && (
        <Raw label={t.reason}>{`${error.code}: ${error.message}\n${JSON.stringify(error.details, null, 2)}`}</Raw>
      )}
    </Stack>
  );
}
