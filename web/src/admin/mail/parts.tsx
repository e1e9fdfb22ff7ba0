/** Parts of both lists of mail: received and sent. */
import { Anchor, Button, Group } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useText } from '../../i18n/text.ts';
import { texts } from './texts.ts';

/** Buttons to the previous and the next page of a list that has several. */
export function Pages({ page, hasMore, go }: { page: number; hasMore: boolean; go: (page: number) => void }) {
  const t = useText(texts);
  if (page === 1 && !hasMore) return null;
  return (
    <Group justify="flex-end" mt="md">
      <Button variant="default" disabled={page === 1} onClick={() => go(page - 1)}>
        {t.previous}
      </Button>
      <Button variant="default" disabled={!hasMore} onClick={() => go(page + 1)}>
        {t.next}
      </Button>
    </Group>
  );
}

/** Link to the record that a mail is about. */
export function RecordLink({ id }: { id: string }) {
  const t = useText(texts);
  return (
    <Anchor size="sm" renderRoot={(props) => <Link to="/records/$recordId" params={{ recordId: id }} {...props} />}>
      {t.openRecord}
    </Anchor>
  );
}
