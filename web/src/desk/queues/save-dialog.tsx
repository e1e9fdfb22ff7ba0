/** The dialog that saves a list as a queue. */
import { NativeSelect, TextInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { call } from '../../api/client.ts';
import type { desk } from '../../api/types.ts';
import { useHas, useSession } from '../../app/session.ts';
import { labelText, useLabels } from '../../fields/labels.ts';
import { useText } from '../../i18n/text.ts';
import { FormFrame, useForm } from '../../ui/form.tsx';
import { texts } from '../list/texts.ts';
import { type QueueDefinition, queuesQuery } from '../queries.ts';
import { Dialog } from '../../ui/dialog.tsx';

export interface SaveDialogProps {
  onClose: () => void;
  definition: QueueDefinition;
  suggested: string;
}

export function SaveDialog({ onClose, definition, suggested }: SaveDialogProps) {
  const t = useText(texts);
  return (
    <Dialog opened onClose={onClose} title={t.saveQueue}>
      <SaveForm definition={definition} suggested={suggested} onClose={onClose} />
    </Dialog>
  );
}

function SaveForm({ definition, suggested, onClose }: SaveDialogProps) {
  const t = useText(texts);
  const has = useHas();
  const { groups } = useSession();
  const labels = useLabels(groups);
  const audiences = [
    { value: 'me', label: t.queuePrivate },
    ...groups.map((id) => ({ value: id, label: t.queueGroup(labelText(labels.get(id)) ?? '…') })),
    ...(has('config.manage') ? [{ value: 'all', label: t.queueShared }] : []),
  ];
  const navigate = useNavigate();
  const form = useForm({
    start: { name: suggested, audience: 'me' },
    send: ({ name, audience }) =>
      call<typeof desk.createQueue>('POST', '/desk/queues', {
        body: {
          name: name.trim(),
          shared: audience === 'all',
          groupId: audience === 'me' || audience === 'all' ? null : audience,
          definition,
        },
      }),
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
      {audiences.length > 1 && (
        <NativeSelect
          label={t.queueAudience}
          data={audiences}
          value={form.values.audience}
          onChange={(event) => form.set({ audience: event.currentTarget.value })}
        />
      )}
    </FormFrame>
  );
}
