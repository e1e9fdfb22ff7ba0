/** The current record of a list at its right: the state, the fields, and the newest comments. */
import { Button, Loader, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import type { FieldSchema } from '../../api/types.ts';
import { isEmpty } from '../../fields/check.ts';
import { FieldValue } from '../../fields/value.tsx';
import { layoutOf } from '../../fields/view.ts';
import { useText } from '../../i18n/text.ts';
import { FaultAlert } from '../../ui/fault.tsx';
import { PersonName } from '../../ui/person.tsx';
import { Time } from '../../ui/time.tsx';
import { newestCommentsQuery, recordQuery, recordSchemaQuery } from '../queries.ts';
import { StateBadge } from '../record/state-badge.tsx';
import { texts as deskTexts } from '../texts.ts';
import classes from './list.module.css';
import type { Row } from './source.ts';
import { texts } from './texts.ts';
import { TimeLeft } from './time-left.tsx';

const Markdown = lazy(async () => ({ default: (await import('../../ui/markdown.tsx')).Markdown }));

/** Number of the newest comments shown. */
const COMMENTS = 3;
/** Milliseconds after which the record under the cursor is loaded: keys may move on at once. */
const DELAY = 150;

export function Preview({ row }: { row: Row | undefined }) {
  const t = useText(texts);
  const hidden = useText(deskTexts).hiddenTitle;
  return (
    <aside className={classes.preview} aria-label={t.preview} tabIndex={0}>
      {row === undefined ? (
        <Text c="dimmed">{t.previewNone}</Text>
      ) : (
        <>
          <div className={classes.previewHead}>
            <span className="tabular">{row.number}</span>
            {row.workflowState !== null && <StateBadge state={row.workflowState} />}
            <TimeLeft sla={row.sla ?? null} />
          </div>
          <h2>{row.title ?? row.number ?? hidden}</h2>
          <Button
            variant="light"
            size="compact-sm"
            renderRoot={(props) => <Link {...props} to="/records/$recordId" params={{ recordId: row.id }} />}
          >
            {t.openRecord}
          </Button>
          <Details id={row.id} />
        </>
      )}
    </aside>
  );
}

function Details({ id }: { id: string }) {
  const [wanted] = useDebouncedValue(id, DELAY);
  const record = useQuery(recordQuery(wanted));
  const schema = useQuery(recordSchemaQuery(wanted));
  if (record.error !== null) return <FaultAlert error={record.error} />;
  if (record.data === undefined || schema.data === undefined || wanted !== id) return <Loader size="sm" mt="sm" />;
  const { values } = record.data;
  const filled = (schema.data.fields as FieldSchema[]).filter(({ code }) => code !== 'title' && !isEmpty(values[code]));
  const long = filled.filter(({ dataType }) => layoutOf(dataType).long === true);
  const short = filled.filter((field) => !long.includes(field));
  return (
    <>
      {long.map((field) => (
        <section key={field.code}>
          <h3>{field.name}</h3>
          <FieldValue field={field} value={values[field.code]} recordId={wanted} />
        </section>
      ))}
      <dl className={classes.previewFields}>
        {short.map((field) => (
          <div key={field.code}>
            <dt>{field.name}</dt>
            <dd>
              <FieldValue field={field} value={values[field.code]} recordId={wanted} />
            </dd>
          </div>
        ))}
      </dl>
      <NewestComments id={wanted} />
    </>
  );
}

function NewestComments({ id }: { id: string }) {
  const t = useText(deskTexts);
  const { data = [] } = useQuery(newestCommentsQuery(id, COMMENTS));
  if (data.length === 0) return null;
  return (
    <section>
      <h3>{t.activity}</h3>
      {data.toReversed().map((comment) => (
        <article key={comment.id} className={classes.previewComment} data-visibility={comment.visibility}>
          <header>
            <PersonName name={comment.author?.displayName ?? ''} /> <Time at={comment.createdAt} />
          </header>
          <Suspense fallback={comment.body}>
            <Markdown source={comment.body} />
          </Suspense>
        </article>
      ))}
    </section>
  );
}
