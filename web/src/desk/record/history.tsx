/** History of a record, newest first, with old and new values. */
import { Anchor, Button, Loader } from '@mantine/core';
import { IconArrowRight } from '@tabler/icons-react';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { FieldSchema, HistoryEvent, WorkflowState } from '../../api/types.ts';
import { isEmpty } from '../../fields/check.ts';
import { labelText, useLabels } from '../../fields/labels.ts';
import { type RichNode, RichText } from '../../fields/rich-text.tsx';
import { FieldValue } from '../../fields/value.tsx';
import { useLanguage } from '../../i18n/language.ts';
import { useText } from '../../i18n/text.ts';
import { viewOf } from '../comment-visibility.tsx';
import { Empty } from '../../ui/empty.tsx';
import { FaultAlert } from '../../ui/fault.tsx';
import { Time } from '../../ui/time.tsx';
import { historyPagesQuery, rowsOf } from '../queries.ts';
import { texts } from '../texts.ts';
import { eventTexts } from './event-texts.ts';
import classes from './lists.module.css';
import { Revisions, type RevisionsProps } from './revisions.tsx';
import { slaQuery } from './sla.tsx';

export interface HistoryProps extends RevisionsProps {
  states: readonly WorkflowState[];
}

export default function History({ states, ...compared }: HistoryProps) {
  const { record, fields } = compared;
  const t = useText(texts);
  const { data, error, refetch, ...pages } = useInfiniteQuery(historyPagesQuery(record.id));
  const byCode = useMemo(() => new Map(fields.map((field) => [field.code, field])), [fields]);
  const newest = useMemo(() => rowsOf(data?.pages), [data]);
  if (error !== null) return <FaultAlert error={error} retry={() => void refetch()} />;
  if (newest === undefined) return <Loader size="sm" />;
  if (newest.length === 0) return <Empty>{t.noHistory}</Empty>;
  return (
    <div>
      <Revisions {...compared} />
      {newest.map((event) => (
        <Event key={event.id} event={event} fields={byCode} states={states} recordId={record.id} />
      ))}
      {pages.hasNextPage && (
        <Button variant="default" loading={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
          {t.showMore}
        </Button>
      )}
    </div>
  );
}

/** True for what the service does by its rules. An SLA event has the user whose change caused it, unless by a command. */
function isBySystem({ type, actor, data }: HistoryEvent): boolean {
  return actor.id === null || actor.via === 'system' || (type.startsWith('Sla') && data['by'] !== 'manual');
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
  const bySystem = isBySystem(event);
  // On creation, empty values are omitted.
  const changes = event.type === 'ObjectCreated' ? event.changes.filter(({ to }) => to !== null) : event.changes;
  return (
    <article className={classes.event} data-event={event.type}>
      <header className={classes.eventHead}>
        <strong>{name}</strong>
        <EventAbout event={event} recordId={recordId} />
        <span>{bySystem ? words.system : event.actor.displayName}</span>
        <Time at={event.at} />
        {!bySystem && event.actor.via !== 'console' && (
          <small>
            {t.via} {via}
          </small>
        )}
      </header>
      {changes.map((change) => (
        <Change key={change.field} change={change} fields={fields} event={event} states={states} recordId={recordId} />
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

interface ChangeProps {
  change: HistoryEvent['changes'][number];
  fields: ReadonlyMap<string, FieldSchema>;
  event: Pick<HistoryEvent, 'type'>;
  states: readonly { id: string; code: string; name: string; category: 'open' | 'waiting' | 'done' }[];
  recordId: string;
}

/** The old and the new value of a field. */
export function Change({ change, fields, event, states, recordId }: ChangeProps) {
  const words = useText(eventTexts);
  return (
    <dl className={classes.change}>
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
              <Shown change={change.field} value={change.from} fields={fields} states={states} recordId={recordId} />
            </span>
            <IconArrowRight size={12} aria-hidden="true" />
          </>
        )}
        <span>
          <Shown change={change.field} value={change.to} fields={fields} states={states} recordId={recordId} />
        </span>
      </dd>
    </dl>
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

interface AboutProps {
  event: HistoryEvent;
  recordId: string;
}

export function EventAbout({ event, recordId }: AboutProps) {
  const language = useLanguage();
  const { originalFilename, visibility } = event.data;
  if (typeof originalFilename === 'string') return <span>{originalFilename}</span>;
  if (typeof event.data['commentId'] === 'string') return <span>{viewOf(visibility)?.short[language]}</span>;
  if (typeof event.data['relationId'] === 'string') return <OtherEnd event={event} recordId={recordId} />;
  if (typeof event.data['slaInstanceId'] === 'string') return <Limit event={event} recordId={recordId} />;
  return null;
}

function OtherEnd({ event, recordId }: AboutProps) {
  const t = useText(texts);
  const { sourceObjectId, targetObjectId } = event.data;
  const other = sourceObjectId === recordId ? targetObjectId : sourceObjectId;
  const id = typeof other === 'string' ? other : undefined;
  const labels = useLabels(id === undefined ? [] : [id]);
  if (id === undefined) return null;
  const name = labelText(labels.get(id));
  if (name === undefined) return labels.has(id) ? <span>{t.hiddenTitle}</span> : null;
  return (
    <Anchor size="sm" renderRoot={(props) => <Link to="/records/$recordId" params={{ recordId: id }} {...props} />}>
      {name}
    </Anchor>
  );
}

function Limit({ event, recordId }: AboutProps) {
  const { data } = useQuery(slaQuery(recordId));
  const { policyCode, percent } = event.data;
  const found = data?.instances.find((one) => one.policyCode === policyCode);
  const part = typeof percent === 'number' ? ` · ${percent}\u00A0%` : '';
  return (
    <span>
      {found?.name ?? String(policyCode ?? '')}
      {part}
    </span>
  );
}
