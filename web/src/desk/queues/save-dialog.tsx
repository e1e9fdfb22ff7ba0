/** The dialog that saves a list as a queue. */
import { Modal, Switch, TextInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { call } from '../../api/client.ts';
import type { desk } from '../../api/types.ts';
import { useHas } from '../../app/session.ts';
import { useText } from '../../i18n/text.ts';
import { FormFrame, useForm } from '../../ui/form.tsx';
import { texts } from '../list/texts.ts';
import { type QueueDefinition, queuesQuery } from '../queries.ts';

export interface SaveDialogProps {
  onClose: () => void;
  definition: QueueDefinition;
  suggested: string;
}

export function SaveDialog({ onClose, definition, suggested }: SaveDialogProps) {
  const t = useText(texts);
  return (
    <Modal opened onClose={onClose} title={t.saveQueue}>
      <SaveForm definition={definition} suggested={suggested} onClose={onClose} />
    </Modal>
  );
}

function SaveForm({ definition, suggested, onClose }: SaveDialogProps) {
  const t = useText(texts);
  const has = useHas();
  const navigate = useNavigate();
  const form = useForm({
    start: { name: suggested, shared: false },
    send: ({ name, shared }) =>
      call<typeof desk.createQueue>('POST', '/desk/queues', { body: { name: name.trim(), shared, definition } }),
    ready: ({ name }) => name.trim() !== '',
    touches: [queuesQuery.queryKey],
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
