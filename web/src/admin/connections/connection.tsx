/** Shared by connections to other systems: their state, and the actions enable, disable and archive. */
import { Button } from '@mantine/core';
import { useText } from '../../i18n/text.ts';
import { confirm } from '../../ui/confirm.tsx';
import { texts } from './texts.ts';
import { ToneMark } from './tone.tsx';

export interface ConnectionState {
  id: string;
  code: string;
  enabled: boolean;
  state: 'ACTIVE' | 'ARCHIVED';
}

export type Step = 'enable' | 'disable' | 'archive' | 'restore';

export function useStateName(): (one: ConnectionState) => string {
  const t = useText(texts);
  return (one) => (one.state === 'ARCHIVED' ? t.archived : one.enabled ? t.enabled : t.disabled);
}

export function ConnectionMark({ connection }: { connection: ConnectionState }) {
  const name = useStateName();
  const tone = connection.state === 'ARCHIVED' ? 'gone' : connection.enabled ? 'good' : 'idle';
  return <ToneMark tone={tone}>{name(connection)}</ToneMark>;
}

interface StepsProps {
  connection: ConnectionState;
  /** Consequences of enabling it, shown in the confirmation. */
  meaning: string;
  pending: boolean;
  onStep: (step: Step) => void;
}

/** Buttons of the available actions; each asks for confirmation. */
export function ConnectionSteps({ connection, meaning, pending, onStep }: StepsProps) {
  const t = useText(texts);
  const ask = async (step: Step, title: string, body: string, yes: string, danger = false): Promise<void> => {
    if (await confirm({ title, body, yes, danger })) onStep(step);
  };
  const { code } = connection;
  if (connection.state === 'ARCHIVED') {
    return (
      <Button
        variant="default"
        loading={pending}
        onClick={() => void ask('restore', t.restoreTitle(code), t.restoreBody, t.restore)}
      >
        {t.restore}
      </Button>
    );
  }
  return (
    <>
      {connection.enabled ? (
        <Button
          variant="default"
          loading={pending}
          onClick={() => void ask('disable', t.disableTitle(code), t.disableBody, t.disable)}
        >
          {t.disable}
        </Button>
      ) : (
        <Button loading={pending} onClick={() => void ask('enable', t.enableTitle(code), meaning, t.enable)}>
          {t.enable}
        </Button>
      )}
      <Button
        variant="default"
        loading={pending}
        onClick={() => void ask('archive', t.archiveTitle(code), t.archiveBody, t.archive, true)}
      >
        {t.archive}
      </Button>
    </>
  );
}
