/** History of a record, newest first, with old and new values. */
import { Button, Loader } from '@mantine/core';
import { IconArrowRight } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import type { FieldSchema, HistoryEvent, WorkflowState } from '../../api/types.ts';
import { isEmpty } from '../../fields/check.ts';
import { RichText, type RichNode } from '../../fields/rich-text.tsx';
import { FieldValue } from '../../fields/value.tsx';
import { useText } from '../../i18n/text.ts';
import { Empty } from '../../ui/empty.tsx';
import { FaultAlert } from '../../ui/fault.tsx';
import { Time } from '../../ui/time.tsx';
import { historyQuery } from '../queries.ts';
import { texts } from '../texts.ts';
import { EventAbout } from './event-about.tsx';
import { eventTexts } from './event-texts.ts';
import classes from './lists.module.css';

const SHOWN = 50;

export interface HistoryProps {
  recordId: string;
  fields: readonly FieldSchema[];
  states: readonly WorkflowState[];
}

export default function History({ recordId, fields, states }: HistoryProps) {
  const t = useText(texts);
  const [most, setMost] = useState(SHOWN);
  const { data, error, refetch } = useQuery(historyQuery(recordId));
  const byCode = useMemo(() => new Map(fields.map((field) => [field.code, field])), [fields]);
  if (error !== null) return <FaultAlert error={error} retry={() => void refetch()} />;
  if (data === undefined) return <Loader size="sm" />;
  if (data.length === 0) return <Empty>{t.noHistory}</Empty>;
  const newest = data.toReversed();
  return (
    <div>
      {newest.slice(0, most).map((event) => (
        <Event key={event.id} event={event} fields={byCode} states={states} recordId={recordId} />
      ))}
      {newest.length > most && (
        <Button variant="default" onClick={() => setMost(most + SHOWN * 4)}>
          {t.showMore}
        </Button>
      )}
    </div>
  );
}

interface EventProps {
  event: HistoryEvent;
  fields: ReadonlyMap<string, FieldSchema>;
  states: readonly WorkflowState[];
  recordId: string;
}

function Event({ event, fields, states, recordId }: EventProps) {
  const t = useText(texts);
  const words = useText(eventTexts);
  const name = (Object.hasOwn(words, event.type) ? words[event.type as keyof typeof words] : event.type) as string;
  const via = Object.hasOwn(words, event.actor.via) ? words[event.actor.via as keyof typeof words] : event.actor.via;
  const { reason, decisionReport } = event.data;
  // On creation, empty values are omitted.
  const changes = event.type === 'ObjectCreated' ? event.changes.filter(({ to }) => to !== null) : event.changes;
  return (
    <article className={classes.event} data-event={event.type}>
      <header className={classes.eventHead}>
        <strong>{name}</strong>
        <EventAbout event={event} recordId={recordId} />
        <span>{event.actor.id === null ? words.system : event.actor.displayName}</span>
        <Time at={event.at} />
        {event.actor.via !== 'console' && event.actor.via !== 'system' && (
          <small>
            {t.via} {via}
          </small>
        )}
      </header>
      {changes.map((change) => (
        <dl key={change.field} className={classes.change}>
          <dt>
            {change.field === 'workflowState'
              ? words.workflowState
              : change.field === 'state'
                ? words.state
                : (fields.get(change.field)?.name ?? change.field)}
          </dt>
          <dd>
            {event.type !== 'ObjectCreated' && (
              <>
                <span className={isEmpty(change.from) ? undefined : classes.from}>
                  <Shown
                    change={change.field}
                    value={change.from}
                    fields={fields}
                    states={states}
                    recordId={recordId}
                  />
                </span>
                <IconArrowRight size={12} aria-hidden="true" />
              </>
            )}
            <span>
              <Shown change={change.field} value={change.to} fields={fields} states={states} recordId={recordId} />
            </span>
          </dd>
        </dl>
      ))}
      {typeof reason === 'string' && (
        <dl className={classes.change}>
          <dt>{t.reason}</dt>
          <dd>{reason}</dd>
        </dl>
      )}
      {typeof decisionReport === 'object' && decisionReport !== null && (
        <dl className={classes.change}>
          <dt>{t.decisionReport}</dt>
          <dd>
            <RichText document={decisionReport as RichNode} recordId={recordId} />
          </dd>
        </dl>
      )}
    </article>
  );
}

interface ShownProps extends Omit<EventProps, 'event'> {
  change: string;
  value: unknown;
}

function Shown({ change, value, fields, states, recordId }: ShownProps) {
  const words = useText(eventTexts);
  if (change === 'workflowState') {
    const state = states.find((one) => one.id === value || one.code === value);
    return state?.name ?? String(value ?? '—');
  }
  if (change === 'state') return value === 'ARCHIVED' ? words.archivedState : words.activeState;
  const field = fields.get(change);
  if (field !== undefined) return <FieldValue field={field} value={value} recordId={recordId} />;
  return value === null || value === undefined ? '—' : JSON.stringify(value);
}
