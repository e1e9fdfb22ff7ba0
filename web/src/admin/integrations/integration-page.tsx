/** One integration: its properties, a dry run of its mapping, and its last calls. */
import { useQuery } from '@tanstack/react-query';
import { call } from '../../api/client.ts';
import type { inbound } from '../../api/types.ts';
import { deskTypesQuery } from '../../desk/queries.ts';
import { labelText, useLabels } from '../../fields/labels.ts';
import { useText } from '../../i18n/text.ts';
import { Panel } from '../../ui/page.tsx';
import { ConnectionMark, type ConnectionState } from '../connections/connection.tsx';
import { ConnectionPage, FoundConnection } from '../connections/connection-page.tsx';
import { Facts, Raw } from '../connections/tone.tsx';
import { CallsTable } from './calls.tsx';
import { IntegrationForm } from './integration-form.tsx';
import { type Command, type Integration, integrationsKey, integrationsQuery } from './queries.ts';
import { texts } from './texts.ts';
import { TryOut } from './try-out.tsx';

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
