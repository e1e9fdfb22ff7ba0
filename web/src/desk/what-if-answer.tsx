/** The effects of a dry run in words: changed values, SLA, webhooks; for a bulk change, how many records change or fail. */
import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { Effects } from '../../../src/contract/effects.ts';
import type { BulkResult, DocketRecord, FieldSchema } from '../api/types.ts';
import { eventTexts } from '../i18n/event-texts.ts';
import { useText } from '../i18n/text.ts';
import { useNotedFaultText } from '../ui/fault.tsx';
import { Time } from '../ui/time.tsx';
import { deskTypesQuery, typeFieldsQuery } from './queries.ts';
import { Change } from './record/history.tsx';
import { slaQuery } from './record/sla.tsx';
import { whatIfTexts } from './what-if-texts.ts';

const NONE: ReadonlyMap<string, string> = new Map();
/** Lines of each list. */
const SHOWN = 10;

/** What the service answered to a dry run. */
export interface Tried {
  effects: Effects;
  /** Of a bulk change. */
  results?: readonly BulkResult[];
  /** The record that would be created. Its events are shown only to users who may read the history. */
  created?: Pick<DocketRecord, 'title' | 'workflowState'>;
}

interface WhatIfAnswerProps {
  tried: Tried;
  typeId: string | undefined;
  names?: ReadonlyMap<string, string>;
}

export default function WhatIfAnswer({ tried, typeId, names = NONE }: WhatIfAnswerProps) {
  const { effects, results, created } = tried;
  const t = useText(whatIfTexts);
  const subscriptions = new Set(effects.webhooks.map(({ subscriptionId }) => subscriptionId)).size;
  const isEmpty =
    effects.events.length + effects.sla.length + effects.rules.length === 0 &&
    results === undefined &&
    created === undefined;
  return (
    <>
      {isEmpty && <Text size="sm">{t.nothing}</Text>}
      {created !== undefined && (
        <Text size="sm">{t.created(created.title ?? '', created.workflowState?.name ?? '')}</Text>
      )}
      {results === undefined && created === undefined && <Changes events={effects.events} typeId={typeId} />}
      {results !== undefined && <Results results={results} names={names} />}
      <SlaChanges changes={effects.sla} names={names} isNew={created !== undefined} />
      <Rules rules={effects.rules} />
      {subscriptions > 0 && <Text size="sm">{t.webhooks(subscriptions)}</Text>}
    </>
  );
}

function Changes({ events, typeId }: { events: Effects['events']; typeId: string | undefined }) {
  const fields = useQuery({ ...typeFieldsQuery(typeId ?? ''), enabled: typeId !== undefined }).data?.fields ?? [];
  const types = useQuery(deskTypesQuery).data ?? [];
  const states = types.find(({ id }) => id === typeId)?.states ?? [];
  const byCode = new Map((fields as FieldSchema[]).map((field) => [field.code, field]));
  const words: Readonly<Record<string, string>> = useText(eventTexts);
  return events.flatMap((event) => {
    // Changes of SLA are in a list of their own.
    if (event.changes.length === 0 && typeof event.data['slaInstanceId'] !== 'string')
      return (
        <Text key={event.id} size="sm">
          {words[event.type] ?? event.type}
        </Text>
      );
    return event.changes.map((change) => (
      <Change
        key={`${event.id} ${change.field}`}
        change={change}
        fields={byCode}
        event={event}
        states={states}
        recordId={event.objectId}
      />
    ));
  });
}

/** Changes that start or move a due time. */
const WITH_DUE: ReadonlySet<string> = new Set(['STARTED', 'RESUMED', 'RETARGETED']);

interface SlaChangesProps {
  changes: Effects['sla'];
  /** Records of a bulk change. */
  names: ReadonlyMap<string, string>;
  /** Whether the record does not exist yet. */
  isNew: boolean;
}

function SlaChanges({ changes, names, isNew }: SlaChangesProps) {
  const t = useText(whatIfTexts);
  if (changes.length === 0) return null;
  return (
    <ul>
      {changes.slice(0, SHOWN).map(({ objectId, policyCode, change, dueAt }) => (
        <li key={`${objectId} ${policyCode} ${change}`}>
          {isNew ? `SLA ${policyCode}` : <SlaName recordId={objectId} policyCode={policyCode} />}
          {names.size > 0 && ` · ${names.get(objectId)?.split(' · ')[0] ?? ''}`}: {t[change]}
          {dueAt !== null && WITH_DUE.has(change) && (
            <>
              {' '}
              ({t.due} <Time at={dueAt} />)
            </>
          )}
        </li>
      ))}
      {changes.length > SHOWN && <li>{t.andMore(changes.length - SHOWN)}</li>}
    </ul>
  );
}

/** The name of the policy if the record has such an SLA already, else its code. */
function SlaName({ recordId, policyCode }: { recordId: string; policyCode: string }) {
  const { data } = useQuery(slaQuery(recordId));
  return data?.instances.find((one) => one.policyCode === policyCode)?.name ?? policyCode;
}

function Rules({ rules }: { rules: Effects['rules'] }) {
  const t = useText(whatIfTexts);
  const words = t as Readonly<Record<string, unknown>>;
  // A rule can fire on several records.
  const lines = [...new Set(rules.map(({ code, outcome }) => `${t.rule(code)}: ${String(words[outcome] ?? outcome)}`))];
  if (lines.length === 0) return null;
  return (
    <ul>
      {lines.slice(0, SHOWN).map((line) => (
        <li key={line}>{line}</li>
      ))}
      {lines.length > SHOWN && <li>{t.andMore(lines.length - SHOWN)}</li>}
    </ul>
  );
}

function Results({ results, names }: { results: readonly BulkResult[]; names: ReadonlyMap<string, string> }) {
  const t = useText(whatIfTexts);
  const say = useNotedFaultText();
  const failed = results.filter(({ status }) => status === 'FAILED');
  return (
    <>
      <Text size="sm">{t.changed(results.length - failed.length)}</Text>
      {failed.length > 0 && (
        <>
          <Text size="sm" c="var(--mantine-color-error)">
            {t.failed(failed.length)}
          </Text>
          <ul>
            {failed.slice(0, SHOWN).map(({ objectId, error }) => (
              <li key={objectId}>
                {names.get(objectId) ?? objectId}: {error === undefined || error === null ? '' : say(error)}
              </li>
            ))}
            {failed.length > SHOWN && <li>{t.andMore(failed.length - SHOWN)}</li>}
          </ul>
        </>
      )}
    </>
  );
}
