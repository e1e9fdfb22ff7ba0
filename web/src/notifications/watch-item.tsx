/** The item of the record's menu that starts and ends watching. */
import { Menu } from '@mantine/core';
import { IconEye, IconEyeOff } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { call } from '../api/client.ts';
import type { notifications } from '../api/types.ts';
import { useText } from '../i18n/text.ts';
import { useAction } from '../ui/action.ts';
import { watchQuery } from './queries.ts';
import { texts } from './texts.ts';

export function WatchItem({ recordId }: { recordId: string }) {
  const t = useText(texts);
  const { data } = useQuery(watchQuery(recordId));
  const isWatching = data?.watching === true;
  const path = `/objects/${recordId}/watch`;
  const change = useAction({
    run: () =>
      isWatching
        ? call<typeof notifications.endWatch>('DELETE', path)
        : call<typeof notifications.setWatch>('PUT', path),
    touches: [watchQuery(recordId).queryKey],
    done: isWatching ? t.watchEnded : t.watchBegun,
  });
  const Icon = isWatching ? IconEyeOff : IconEye;
  return (
    <Menu.Item leftSection={<Icon size={14} />} disabled={data === undefined} onClick={() => change.mutate()}>
      {isWatching ? t.unwatch : t.watch}
    </Menu.Item>
  );
}
