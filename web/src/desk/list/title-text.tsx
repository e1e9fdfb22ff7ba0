import { VisuallyHidden } from '@mantine/core';
import { useText } from '../../i18n/text.ts';
import { texts } from '../texts.ts';
import type { Row } from './source.ts';

/** The title of a record in a list, bold if the user has unread notifications of it. */
export function TitleText({ row }: { row: Row }) {
  const t = useText(texts);
  const isUnread = row.unread === true;
  return (
    <span title={row.title ?? undefined} style={isUnread ? { fontWeight: 700 } : undefined}>
      {row.title ?? row.number ?? t.hiddenTitle}
      {isUnread && <VisuallyHidden> ({t.unread})</VisuallyHidden>}
    </span>
  );
}
