/** Shared by connections to other systems: the page, the state, and the actions enable, disable and archive. */
import { Button, Loader, Tooltip } from '@mantine/core';
import type { QueryKey, UseQueryResult } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useText } from '../../i18n/text.ts';
import { useAction } from '../../ui/action.ts';
import { confirm } from '../../ui/confirm.tsx';
import { Empty } from '../../ui/empty.tsx';
import { FaultAlert } from '../../ui/fault.tsx';
import { Page, type PageProps } from '../../ui/page.tsx';
import { texts } from './texts.ts';
import { ToneMark } from './tone.tsx';
import { isArchived } from '../../../../src/contract/state.ts';

export interface ConnectionState {
  id: string;
  code: string;
  enabled: boolean;
  state: 'ACTIVE' | 'ARCHIVED';
}

export type Step = 'enable' | 'disable' | 'archive' | 'restore';

export function useStateName(): (one: ConnectionState) => string {
  const t = useText(texts);
  return (one) => (isArchived(one) ? t.archived : one.enabled ? t.enabled : t.disabled);
}

export function ConnectionMark({ connection }: { connection: ConnectionState }) {
  const name = useStateName();
  const tone = isArchived(connection) ? 'gone' : connection.enabled ? 'good' : 'idle';
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
  if (isArchived(connection)) {
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

interface FoundConnectionProps<Row> {
  id: string;
  query: UseQueryResult<Row[]>;
  title: string;
  back: NonNullable<PageProps['back']>;
  /** Text shown if no connection has this id. */
  gone: string;
  children: (row: Row) => ReactNode;
}

export function FoundConnection<Row extends { id: string }>(props: FoundConnectionProps<Row>) {
  const { data, error, refetch } = props.query;
  const found = data?.find((one) => one.id === props.id);
  if (found !== undefined) return props.children(found);
  return (
    <Page title={props.title} back={props.back}>
      <FaultAlert error={error} retry={() => void refetch()} />
      {data === undefined ? error === null && <Loader size="sm" /> : <Empty>{props.gone}</Empty>}
    </Page>
  );
}

interface ConnectionPageProps {
  connection: ConnectionState;
  back: NonNullable<PageProps['back']>;
  /** Consequences of enabling it, shown in the confirmation. */
  meaning: string;
  /** Runs an action. */
  run: (step: Step) => Promise<unknown>;
  /** Success message of each action. */
  done: Readonly<Record<Step, string>>;
  touches: QueryKey;
  form: (opened: boolean, close: () => void) => ReactNode;
  children: ReactNode;
}

export function ConnectionPage({ connection, back, touches, ...props }: ConnectionPageProps) {
  const t = useText(texts);
  const [changing, setChanging] = useState(false);
  const { code, enabled, state } = connection;
  const step = useAction({
    run: props.run,
    touches: [touches],
    done: (_answer, which) => props.done[which],
    quiet: true,
  });
  return (
    <Page
      title={code}
      back={back}
      actions={
        <>
          {state === 'ACTIVE' && (
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
            meaning={props.meaning}
            pending={step.isPending}
            onStep={(which) => step.mutate(which)}
          />
        </>
      }
    >
      <FaultAlert error={step.error} />
      {props.children}
      {props.form(changing, () => setChanging(false))}
    </Page>
  );
}
