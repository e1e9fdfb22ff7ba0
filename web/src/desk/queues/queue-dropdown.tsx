/** What can be done with a queue, as a menu. */
import { Menu } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { call } from '../../api/client.ts';
import type { desk } from '../../api/types.ts';
import { useText } from '../../i18n/text.ts';
import { useAction } from '../../ui/action.ts';
import { confirm } from '../../ui/confirm.tsx';
import type { DropdownProps } from '../../ui/on-first-use.tsx';
import { texts } from '../list/texts.ts';
import { type Queue, queuesQuery } from '../queries.ts';

interface QueueDropdownProps {
  queue: Queue;
  onSaveAs: () => void;
}

export function QueueDropdown({ queue, onSaveAs, opened, onOpened, children }: QueueDropdownProps & DropdownProps) {
  const t = useText(texts);
  const navigate = useNavigate();
  const remove = useAction({
    run: () =>
      call<typeof desk.deleteQueue>('DELETE', `/desk/queues/${queue.id}`, {
        body: { expectedRevision: queue.revision },
      }),
    after: () => navigate({ to: '/records' }),
    touches: [queuesQuery.queryKey],
  });
  const ask = async (): Promise<void> => {
    const title = t.queueDeleteTitle(queue.name);
    if (await confirm({ title, body: t.queueDeleteBody, yes: t.queueDelete, danger: true })) remove.mutate();
  };
  return (
    <Menu opened={opened} onChange={onOpened}>
      <Menu.Target>{children}</Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={onSaveAs}>{t.saveAs}</Menu.Item>
        {queue.mayChange && (
          <Menu.Item color="red" onClick={() => void ask()}>
            {t.queueDelete}
          </Menu.Item>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}
