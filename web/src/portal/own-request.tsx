/** A request as its requester sees it: progress, what happens next, conversation, files. */
import { Button, Group, Loader, Text, Title } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { ApiFault } from '../api/client.ts';
import type { DocketRecord, FieldSchema, Transition } from '../api/types.ts';
import { NotFoundPage } from '../app/error-pages.tsx';
import {
  type DeskType,
  deskTypesQuery,
  permissionsQuery,
  recordQuery,
  recordSchemaQuery,
  workflowQuery,
} from '../desk/queries.ts';
import { Comments } from '../desk/record/comments.tsx';
import { DropZone, useUpload } from '../desk/record/files-upload.tsx';
import { Files } from '../desk/record/files.tsx';
import { slaQuery } from '../desk/record/sla.tsx';
import { TransitionForm, useTransition } from '../desk/record/transitions.tsx';
import { FieldValue } from '../fields/value.tsx';
import { useFormats } from '../i18n/format.ts';
import { useText } from '../i18n/text.ts';
import { FaultAlert } from '../ui/fault.tsx';
import { Panel } from '../ui/page.tsx';
import { Time } from '../ui/time.tsx';
import classes from './portal.module.css';
import { texts } from './texts.ts';
import { isActive } from '../../../src/contract/state.ts';
import { Dialog } from '../ui/dialog.tsx';

/** A rating is the requester's opinion: no option is chosen for them. */
const NO_SUGGESTIONS = {};

/** Refresh interval of a visible request in milliseconds. */
const REFRESH = 10_000;

export function OwnRequestPage({ id }: { id: string }) {
  const record = useQuery({ ...recordQuery(id), refetchInterval: REFRESH });
  const schema = useQuery(recordSchemaQuery(id));
  const permissions = useQuery(permissionsQuery(id));
  const { data: types } = useQuery(deskTypesQuery);
  const error = record.error ?? schema.error ?? permissions.error;
  if (error instanceof ApiFault && error.status === 404) return <NotFoundPage />;
  if (error !== null) return <FaultAlert error={error} retry={() => void record.refetch()} />;
  if (record.data === undefined || schema.data === undefined || permissions.data === undefined) {
    return <Loader m="xl" size="sm" />;
  }
  return (
    <Loaded
      record={record.data}
      fields={schema.data.fields as FieldSchema[]}
      actions={permissions.data.actions}
      type={types?.find((one) => one.id === record.data.typeDefinitionId)}
    />
  );
}

interface LoadedProps {
  record: DocketRecord;
  fields: readonly FieldSchema[];
  actions: readonly string[];
  type: DeskType | undefined;
}

function Loaded({ record, fields, actions, type }: LoadedProps) {
  const t = useText(texts);
  const upload = useUpload(record.id);
  const can = (action: string): boolean => isActive(record) && actions.includes(action);
  const name = record.title ?? record.number ?? '';
  useDocumentTitle(`${name} · Docket`);
  const shown = fields.filter(({ code }) => code !== type?.titleField && (record.values[code] ?? null) !== null);
  return (
    <DropZone enabled={can('attachment.add')} onFiles={upload.add} className={classes.request}>
      <header>
        <Link to="/portal/$" params={{ _splat: 'requests' }}>
          ← {t.requests}
        </Link>
        <Title order={1} size="h2" className={classes.name}>
          {name}
        </Title>
        <Text size="sm" c="dimmed">
          {record.number !== null && t.number(record.number)} · <Time at={record.createdAt} />
        </Text>
      </header>
      <Progress record={record} type={type} />
      <Panel title={t.conversation}>
        <Comments record={record} can={can} marked={false} />
      </Panel>
      <Panel title={t.files}>
        <Files recordId={record.id} can={can} upload={upload} />
      </Panel>
      <Panel title={t.details}>
        <dl className={classes.details}>
          {shown.map((field) => (
            <div key={field.code}>
              <dt>{field.name}</dt>
              <dd>
                <FieldValue field={field} value={record.values[field.code]} recordId={record.id} />
              </dd>
            </div>
          ))}
        </dl>
      </Panel>
    </DropZone>
  );
}

type State = DeskType['states'][number];

/**
 * The states that the request passes: the open ones and the first final one. A waiting state is inserted where the
 * request stands. A request in another final state shows only the first state and this one, because the way there is unknown.
 */
export function stepsOf(states: readonly State[], current: string | undefined): State[] {
  const state = states.find(({ code }) => code === current);
  const firstDone = states.find(({ category }) => category === 'done');
  if (state?.category === 'done' && state !== firstDone) return [...states.slice(0, 1), state];
  return states.filter((one) => one.category === 'open' || one === firstDone || one === state);
}

function Progress({ record, type }: { record: DocketRecord; type: DeskType | undefined }) {
  const t = useText(texts);
  const workflow = useQuery(workflowQuery(record.id));
  const steps = stepsOf(type?.states ?? [], record.workflowState?.code);
  const at = steps.findIndex(({ code }) => code === record.workflowState?.code);
  const category = record.workflowState?.category;
  const transitions = workflow.data?.transitions ?? [];
  const asks = category === 'done' && transitions.some(({ to }) => to.code !== record.workflowState?.code);
  return (
    <section className={classes.progress} aria-label={t.steps}>
      <ol className={classes.steps}>
        {steps.map((step, index) => (
          <li
            key={step.id}
            data-passed={index < at || undefined}
            data-category={step.category}
            aria-current={index === at ? 'step' : undefined}
          >
            {step.name}
          </li>
        ))}
      </ol>
      {category !== undefined && <Text role="status">{asks ? t.confirm : t[category]}</Text>}
      {category === 'open' && <Due recordId={record.id} />}
      <Answers record={record} type={type} transitions={transitions} />
    </section>
  );
}

/** Until when the service desk has promised to answer or to finish. Time limits that are over promise nothing. */
function Due({ recordId }: { recordId: string }) {
  const format = useFormats();
  const t = useText(texts);
  const { data } = useQuery(slaQuery(recordId));
  const running = data?.instances.filter((one) => one.status === 'ACTIVE' && !one.breached) ?? [];
  return (
    <>
      {running.map(({ id, name, dueAt }) =>
        dueAt === null ? null : (
          <Text key={id} size="sm" c="dimmed">
            {t.due(name, format.instant(dueAt))}
          </Text>
        ),
      )}
    </>
  );
}

interface AnswersProps {
  record: DocketRecord;
  type: DeskType | undefined;
  transitions: readonly Transition[];
}

/** The transitions that the requester may make; those of a finished request are named by what they say. */
function Answers({ record, type, transitions }: AnswersProps) {
  const t = useText(texts);
  const [chosen, setChosen] = useState<Transition>();
  const move = useTransition(record);
  const finished = record.workflowState?.category === 'done';
  const category = (code: string) => type?.states.find((state) => state.code === code)?.category;
  // The requester is asked before work on the request ends.
  const ends = (transition: Transition): boolean => !finished && category(transition.to.code) === 'done';
  const label = (transition: Transition): string => {
    if (!finished || transition.to.code === record.workflowState?.code) return transition.name;
    return category(transition.to.code) === 'done' ? t.works : t.broken;
  };
  const start = (transition: Transition): void => {
    move.reset();
    if (transition.fields.length === 0 && !ends(transition)) move.mutate({ transition, values: {} });
    else setChosen(transition);
  };
  const confirms = (transition: Transition): boolean => finished && category(transition.to.code) === 'done';
  const ordered = transitions.toSorted((a, b) => Number(confirms(b)) - Number(confirms(a)));
  return (
    <Group gap="xs">
      {ordered.map((transition) => (
        <Button
          key={transition.id}
          variant={confirms(transition) ? 'filled' : 'default'}
          onClick={() => start(transition)}
          loading={move.isPending && chosen === undefined && move.variables?.transition.id === transition.id}
        >
          {label(transition)}
        </Button>
      ))}
      <Dialog
        opened={chosen !== undefined}
        onClose={() => setChosen(undefined)}
        title={chosen === undefined ? undefined : label(chosen)}
      >
        {chosen !== undefined && ends(chosen) && (
          <Text size="sm" mb="sm">
            {t.ends(record.title ?? record.number ?? '')}
          </Text>
        )}
        {chosen !== undefined && (
          <TransitionForm
            key={chosen.id}
            transition={chosen}
            record={record}
            start={NO_SUGGESTIONS}
            pending={move.isPending}
            error={move.error}
            onSubmit={(values) =>
              move.mutate({ transition: chosen, values }, { onSuccess: () => setChosen(undefined) })
            }
            onCancel={() => setChosen(undefined)}
          />
        )}
      </Dialog>
    </Group>
  );
}
