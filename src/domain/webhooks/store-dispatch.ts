/** SQL of dispatch. Any number of workers may run it at once. */
import sql from 'sql-template-tag';
import type { Queryable, Transaction } from '../../platform/database/pool.ts';
import { type Batch, isOf } from '../../platform/journal/consumers.ts';
import { storedMember } from '../../platform/journal/journal.ts';

/**
 * Members of an event's data that are sent with its delivery: identifiers, and the title of an article. No user-written text of
 * records; only messages of rules are stored with what was filled in.
 */
const EVENT_DATA_MEMBERS = [
  'commentId',
  'attachmentId',
  'relationId',
  'definitionCode',
  'sourceObjectId',
  'targetObjectId',
  'slaInstanceId',
  'transition',
  'articleId',
  'versionId',
  'code',
  'locale',
  'title',
];

/** The members of an event's data that deliveries send. */
export function sentData(data: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(EVENT_DATA_MEMBERS.flatMap((name) => (name in data ? [[name, data[name]]] : [])));
}

/** The lock of `docket_set_period_seq()`, which sets the bounds of periods. */
export const PERIOD_LOCK = 7_236_823_413;

/** The id of the subscription through which a rule sends the message that journal row `j` stores; null for other events. */
const POSTED = sql`CASE WHEN j.type = 'RulePosted' THEN ${storedMember('j', 'connection')} END`;

/**
 * Predicate: period `p` takes the event of journal row `j`. The event lies in the period by its sequence number, and its type and the
 * type of its record match the subscription. An event without a record matches only if the subscription has no types.
 */
export const TAKES = sql`(j.type = ANY(p.event_types) OR ${POSTED} = p.subscription_id::text) AND j.seq > p.from_seq
  AND (p.until_seq IS NULL OR j.seq <= p.until_seq)
  AND (p.types = '{}' OR ${POSTED} IS NOT NULL OR EXISTS (SELECT 1 FROM objects o JOIN config_items t ON t.id = o.type_id
    WHERE o.id = j.object_id AND (t.code = ANY(p.types) OR t.former_codes && p.types)))`;

/** An event and a subscription that takes it: a delivery to be made. */
export interface Matched {
  subscription_id: string;
  event_id: string;
  event_type: string;
  object_id: string | null;
  event_at: string;
  event_seq: number;
  event_data: Record<string, unknown>;
  max_attempts: number;
  base_delay_ms: number;
}

/**
 * The deliveries of events. The shared lock prevents periods from starting or ending meanwhile: a later start or end gets a higher
 * number than all these events.
 *
 * @param events a batch, or the numbers of events
 */
export async function matchEvents(tx: Transaction, events: Batch | readonly number[]): Promise<Matched[]> {
  // A separate statement, so that the next one sees what was committed while this one waited for the lock.
  await tx.query(sql`SELECT pg_advisory_xact_lock_shared(${PERIOD_LOCK}::bigint)`);
  const among = 'upTo' in events ? isOf('j', events) : sql`j.seq = ANY(${[...events]}::bigint[])`;
  return await tx.query<Matched>(
    sql`
      SELECT p.subscription_id, j.id AS event_id, j.type AS event_type, j.object_id, j.at AS event_at, j.seq AS event_seq,
        p.max_attempts, p.base_delay_ms,
        coalesce((SELECT jsonb_object_agg(key, value) FROM jsonb_each(j.data) WHERE key = ANY(${EVENT_DATA_MEMBERS}::text[])), '{}') AS event_data
      FROM journal j JOIN webhook_periods p ON ${TAKES} WHERE ${among}`,
    { freshPlan: true },
  );
}

export interface NewDelivery extends Matched {
  id: string;
  at: string;
}

/** Messages of rules are copied in the database: those of a thousand events would hold up the process. */
export async function insertDeliveries(db: Queryable, rows: readonly NewDelivery[]): Promise<void> {
  await db.query(sql`
    INSERT INTO webhook_deliveries (id, subscription_id, event_id, event_type, object_id, event_at, event_seq, event_data,
      max_attempts, base_delay_ms, created_at, due_at)
    SELECT id, subscription_id, event_id, event_type, object_id, event_at, event_seq,
      CASE WHEN event_type = 'RulePosted'
        THEN (SELECT ${storedMember('j', 'body')}::jsonb FROM journal j WHERE j.seq = r.event_seq) ELSE event_data END,
      max_attempts, base_delay_ms, at, at
    FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS r (id uuid, subscription_id uuid, event_id uuid,
      event_type text, object_id uuid, event_at timestamptz, event_seq bigint, event_data jsonb, max_attempts integer,
      base_delay_ms integer, at timestamptz)
    ON CONFLICT (event_id, subscription_id) DO NOTHING`);
}
