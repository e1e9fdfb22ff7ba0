/** The subject of an event besides changed fields: the attachment, the comment's visibility, the other record, the SLA. */
import { Anchor } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { HistoryEvent } from '../../api/types.ts';
import { labelText, useLabels } from '../../fields/labels.ts';
import { useLanguage } from '../../i18n/language.ts';
import { useText } from '../../i18n/text.ts';
import { viewOf } from '../comment-visibility.tsx';
import { texts } from '../texts.ts';
import { slaQuery } from './sla.tsx';

interface AboutProps {
  event: HistoryEvent;
  recordId: string;
}

export function EventAbout({ event, recordId }: AboutProps) {
  const language = useLanguage();
  const { originalFilename, visibility } = event.data;
  if (typeof originalFilename === 'string') return <span>{originalFilename}</span>;
  if (typeof event.data['commentId'] === 'string') {
    return <span>{viewOf(visibility)?.short[language]}</span>;
  }
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
