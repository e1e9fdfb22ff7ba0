/** One integration: what it says, its mapping tried out, and what its calls came to. */
import { Button, Loader, Tooltip } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../../api/client.ts';
import type { inbound } from '../../api/types.ts';
import { deskTypesQuery } from '../../desk/queries.ts';
import { labelText, useLabels } from '../../fields/labels.ts';
import { useText } from '../../i18n/text.ts';
import { useAction } from '../../ui/action.ts';
import { Empty } from '../../ui/empty.tsx';
import { FaultAlert } from '../../ui/fault.tsx';
import { Page, Panel } from '../../ui/page.tsx';
import { ConnectionMark, type ConnectionState, ConnectionSteps, type Step } from '../connections/connection.tsx';
import { Facts, Raw } from '../connections/tone.tsx';
import { CallsTable } from './calls.tsx';
import { IntegrationForm } from './integration-form.tsx';
import { type Command, type Integration, integrationsKey, integrationsQuery } from './queries.ts';
import { texts } from './texts.ts';
import { TryOut } from './try-out.tsx';

const BACK = '/admin/integrations';

export function IntegrationPage({ id }: { id: string }) {
  const t = useText(texts);
  const { data, error, refetch } = useQuery(integrationsQuery);
  const found = data?.find((one) => one.id === id);
  if (found !== undefined) return <Known integration={found} />;
  return (
    <Page title={t.title} back={{ label: t.back, href: BACK }}>
      <FaultAlert error={error} retry={() => void refetch()} />
      {data === undefined ? error === null && <Loader size="sm" /> : <Empty>{t.gone}</Empty>}
    </Page>
  );
}

function Known({ integration }: { integration: Integration }) {
  const t = useText(texts);
  const [changing, setChanging] = useState(false);
  const labels = useLabels(integration.executionPrincipalId === null ? [] : [integration.executionPrincipalId]);
  const { data: types = [] } = useQuery(deskTypesQuery);
  const done: Record<Step, string> = {
    enable: t.enabledNow,
    disable: t.disabledNow,
    archive: t.archivedNow,
    restore: t.restoredNow,
  };
  const step = useAction({
    run: (which: Step) => call<typeof inbound.enableIntegration>('POST', `/integrations/${integration.id}/${which}`),
    touches: [integrationsKey],
    done: (_answer, which) => done[which],
    quiet: true,
  });
  const connection = integration as unknown as ConnectionState;
  const { config, enabled } = integration;
  const type = types.find((one) => one.id === config.typeDefinitionId || one.code === config.typeDefinitionId);
  const address = `POST ${location.origin}/api/v1/inbound/${integration.id}`;
  return (
    <Page
      title={integration.code}
      back={{ label: t.back, href: BACK }}
      actions={
        <>
          {connection.state === 'ACTIVE' && (
            <Tooltip label={t.changeHint} disabled={!enabled}>
              <Button
                variant="default"
                data-disabled={enabled}
                aria-disabled={enabled}
                onClick={() => !enabled && setChanging(true)}
              >
                {t.change}
              </Button>
            </Tooltip>
          )}
          <ConnectionSteps
            connection={connection}
            meaning={t.enableMeaning}
            pending={step.isPending}
            onStep={(which) => step.mutate(which)}
          />
        </>
      }
    >
      <FaultAlert error={step.error} />
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
      <IntegrationForm
        opened={changing}
        onClose={() => setChanging(false)}
        onSaved={() => setChanging(false)}
        integration={integration}
      />
    </Page>
  );
}
