/** Saves the state of a list as a queue, private or shared. */
import { ActionIcon, Button } from '@mantine/core';
import { IconBookmark, IconDots } from '@tabler/icons-react';
import { lazy, Suspense, useState } from 'react';
import { call } from '../../api/client.ts';
import type { desk } from '../../api/types.ts';
import { useText } from '../../i18n/text.ts';
import { useAction } from '../../ui/action.ts';
import { OnFirstUse } from '../../ui/on-first-use.tsx';
import { texts } from '../list/texts.ts';
import { type Queue, type QueueDefinition, queuesQuery } from '../queries.ts';

const SaveDialog = lazy(async () => ({ default: (await import('./save-dialog.tsx')).SaveDialog }));
const loadDropdown = async () => (await import('./queue-dropdown.tsx')).QueueDropdown;

/** Saves a list as a new queue. */
export function SaveQueue({ definition, suggested }: { definition: QueueDefinition; suggested: string }) {
  const t = useText(texts);
  const [open, setOpen] = useState(false);
  return (
    <>
      <ActionIcon variant="default" size={30} aria-label={t.saveAs} title={t.saveAs} onClick={() => setOpen(true)}>
        <IconBookmark size={16} />
      </ActionIcon>
      <Suspense>
        {open && <SaveDialog onClose={() => setOpen(false)} definition={definition} suggested={suggested} />}
      </Suspense>
    </>
  );
}

/** Actions on a queue: save changes, save as a new queue, remove. */
export function QueueTools({ queue, definition }: { queue: Queue; definition: QueueDefinition }) {
  const t = useText(texts);
  const [open, setOpen] = useState(false);
  const [menu, setMenu] = useState(false);
  const changed = JSON.stringify(definition) !== JSON.stringify(queue.definition);
  const save = useAction({
    run: () =>
      call<typeof desk.changeQueue>('PATCH', `/desk/queues/${queue.id}`, {
        body: { expectedRevision: queue.revision, definition },
      }),
    touches: [queuesQuery.queryKey],
    done: t.queueSaved,
  });
  const more = { queue, onSaveAs: () => setOpen(true) };
  return (
    <>
      {changed && queue.mayChange && (
        <Button variant="light" onClick={() => save.mutate()} loading={save.isPending}>
          {t.saveChanges}
        </Button>
      )}
      <OnFirstUse popup="menu" load={loadDropdown} more={more} opened={menu} onOpened={setMenu}>
        <ActionIcon variant="default" size={30} aria-label={t.saveQueue}>
          <IconDots size={16} />
        </ActionIcon>
      </OnFirstUse>
      <Suspense>
        {open && <SaveDialog onClose={() => setOpen(false)} definition={definition} suggested={queue.name} />}
      </Suspense>
    </>
  );
}
