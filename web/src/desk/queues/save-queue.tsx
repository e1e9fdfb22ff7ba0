/** Saves the state of a list as a queue, private or shared. */
import { ActionIcon, Button, Menu, Modal, Switch, TextInput, Tooltip } from '@mantine/core';
import { IconBookmark, IconDots } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { call } from '../../api/client.ts';
import type { desk } from '../../api/types.ts';
import { useHas } from '../../app/session.ts';
import { useText } from '../../i18n/text.ts';
import { useAction } from '../../ui/action.ts';
import { confirm } from '../../ui/confirm.tsx';
import { FormFrame, useForm } from '../../ui/form.tsx';
import { texts } from '../list/texts.ts';
import { type Queue, type QueueDefinition, queuesQuery } from '../queries.ts';

const touches = [queuesQuery.queryKey];

/** Saves a list as a new queue. */
export function SaveQueue({ definition, suggested }: { definition: QueueDefinition; suggested: string }) {
  const t = useText(texts);
  const [open, setOpen] = useState(false);
  return (
    <>
      <Tooltip label={t.saveAs}>
        <ActionIcon variant="default" size={30} aria-label={t.saveAs} onClick={() => setOpen(true)}>
          <IconBookmark size={16} />
        </ActionIcon>
      </Tooltip>
      <SaveDialog open={open} onClose={() => setOpen(false)} definition={definition} suggested={suggested} />
    </>
  );
}

/** Actions on a queue: save changes, save as a new queue, remove. */
export function QueueTools({ queue, definition }: { queue: Queue; definition: QueueDefinition }) {
  const t = useText(texts);
  const navigate = useNavigate();
  const [open, setOpen] = useState(false);
  const changed = JSON.stringify(definition) !== JSON.stringify(queue.definition);
  const save = useAction({
    run: () =>
      call<typeof desk.changeQueue>('PATCH', `/desk/queues/${queue.id}`, {
        body: { expectedRevision: queue.revision, definition },
      }),
    touches,
    done: t.queueSaved,
  });
  const remove = useAction({
    run: () =>
      call<typeof desk.deleteQueue>('DELETE', `/desk/queues/${queue.id}`, {
        body: { expectedRevision: queue.revision },
      }),
    after: () => navigate({ to: '/records' }),
    touches,
  });
  const ask = async (): Promise<void> => {
    const title = t.queueDeleteTitle(queue.name);
    if (await confirm({ title, body: t.queueDeleteBody, yes: t.queueDelete, danger: true })) remove.mutate();
  };
  return (
    <>
      {changed && queue.mayChange && (
        <Button variant="light" onClick={() => save.mutate()} loading={save.isPending}>
          {t.saveChanges}
        </Button>
      )}
      <Menu>
        <Menu.Target>
          <ActionIcon variant="default" size={30} aria-label={t.saveQueue}>
            <IconDots size={16} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => setOpen(true)}>{t.saveAs}</Menu.Item>
          {queue.mayChange && (
            <Menu.Item color="red" onClick={() => void ask()}>
              {t.queueDelete}
            </Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
      <SaveDialog open={open} onClose={() => setOpen(false)} definition={definition} suggested={queue.name} />
    </>
  );
}

interface SaveDialogProps {
  open: boolean;
  onClose: () => void;
  definition: QueueDefinition;
  suggested: string;
}

function SaveDialog({ open, onClose, definition, suggested }: SaveDialogProps) {
  const t = useText(texts);
  return (
    <Modal opened={open} onClose={onClose} title={t.saveQueue}>
      {open && <SaveForm definition={definition} suggested={suggested} onClose={onClose} />}
    </Modal>
  );
}

function SaveForm({ definition, suggested, onClose }: Omit<SaveDialogProps, 'open'>) {
  const t = useText(texts);
  const has = useHas();
  const navigate = useNavigate();
  const form = useForm({
    start: { name: suggested, shared: false },
    send: ({ name, shared }) =>
      call<typeof desk.createQueue>('POST', '/desk/queues', { body: { name: name.trim(), shared, definition } }),
    ready: ({ name }) => name.trim() !== '',
    touches,
    done: t.queueSaved,
    after: (queue) => {
      onClose();
      return navigate({ to: '/queues/$queueId', params: { queueId: queue.id } });
    },
  });
  return (
    <FormFrame form={form} label={t.saveQueue} onCancel={onClose}>
      <TextInput label={t.queueName} maxLength={100} required data-autofocus {...form.text('name')} />
      {has('config.manage') && (
        <Switch
          label={t.queueShared}
          checked={form.values.shared}
          onChange={(event) => form.set({ shared: event.currentTarget.checked })}
        />
      )}
    </FormFrame>
  );
}
