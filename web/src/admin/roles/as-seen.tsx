/** A record on behalf of another user: only with the values that this user may read. */
import { Loader, Text } from '@mantine/core';
import { IconEyeOff, IconPencil } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import type { FieldSchema } from '../../api/types.ts';
import { recordQuery, recordSchemaQuery } from '../../desk/queries.ts';
import { StateBadge } from '../../desk/record/state-badge.tsx';
import { FieldValue } from '../../fields/value.tsx';
import { useText } from '../../i18n/text.ts';
import { Panel } from '../../ui/page.tsx';
import classes from './roles.module.css';
import type { Names } from './model.ts';
import { texts } from './texts.ts';

interface AsSeenProps {
  recordId: string;
  name: string;
  read: Names;
  write: Names;
}

export function AsSeen({ recordId, name, read, write }: AsSeenProps) {
  const t = useText(texts);
  const record = useQuery({ ...recordQuery(recordId), retry: false });
  const schema = useQuery({ ...recordSchemaQuery(recordId), retry: false });
  const has = (names: Names, code: string): boolean => names === '*' || names.includes(code);
  // The values are loaded with the rights of the current user: values that they may not read are not shown either.
  if (record.error !== null || schema.error !== null) return null;
  if (record.data === undefined || schema.data === undefined) return <Loader size="sm" />;
  const { number, workflowState, values } = record.data;
  const fields = schema.data.fields as FieldSchema[];
  return (
    <Panel title={t.asSeen(name)}>
      <div className={classes.seenHead}>
        {number !== null && <span className="tabular">{number}</span>}
        {workflowState !== null && <StateBadge state={workflowState} />}
      </div>
      <dl className={classes.facts} aria-label={t.asSeen(name)}>
        {fields.map((field) => (
          <div key={field.code} className={classes.seen}>
            <dt>
              {field.name}
              {has(write, field.code) && !field.readOnly && (
                <IconPencil size={12} aria-label={t.mayChange} className={classes.pencil} />
              )}
            </dt>
            <dd>
              {has(read, field.code) ? (
                <FieldValue field={field} value={values[field.code]} recordId={recordId} />
              ) : (
                <Text size="xs" c="dimmed" className={classes.hidden}>
                  <IconEyeOff size={12} /> {t.hidden}
                </Text>
              )}
            </dd>
          </div>
        ))}
      </dl>
    </Panel>
  );
}
