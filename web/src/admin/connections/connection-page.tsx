/** Page of one connection: its state, the available actions and the edit form. */
import { Button, Loader, Tooltip } from '@mantine/core';
import type { QueryKey, UseQueryResult } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useText } from '../../i18n/text.ts';
import { useAction } from '../../ui/action.ts';
import { Empty } from '../../ui/empty.tsx';
import { FaultAlert } from '../../ui/fault.tsx';
import { Page, type PageProps } from '../../ui/page.tsx';
import { type ConnectionState, ConnectionSteps, type Step } from './connection.tsx';
import { texts } from './texts.ts';

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
