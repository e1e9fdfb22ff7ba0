/** A bar at the bottom of the page with the unsaved changes. */
import { Button } from '@mantine/core';
import { useText } from '../../i18n/text.ts';
import { useFaultText } from '../../ui/fault.tsx';
import { texts } from '../texts.ts';
import type { RecordDraft } from './draft.ts';
import classes from './record.module.css';

export function SaveBar({ draft }: { draft: RecordDraft }) {
  const t = useText(texts);
  const say = useFaultText();
  if (draft.count === 0) return null;
  return (
    <section className={classes.bar} aria-label={t.changes(draft.count)}>
      <span className={classes.barText} role={draft.error === undefined || draft.error === null ? undefined : 'alert'}>
        {draft.error === undefined || draft.error === null ? t.changes(draft.count) : say(draft.error)}
      </span>
      <Button variant="default" onClick={draft.drop}>
        {t.discard}
      </Button>
      <Button onClick={draft.save} loading={draft.saving} disabled={draft.problems.size > 0} title="Ctrl+S">
        {t.save}
      </Button>
    </section>
  );
}
