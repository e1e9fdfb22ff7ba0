/** The items of the record's menu that start and end watching, and explain notifications. */
import { Menu } from '@mantine/core';
import { IconBellQuestion, IconEye, IconEyeOff } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { call } from '../api/client.ts';
import type { notifications } from '../api/types.ts';
import { useText } from '../i18n/text.ts';
import { useAction } from '../ui/action.ts';
import { watchQuery } from './queries.ts';
import { texts } from './texts.ts';

/** @param mayExplain whether the user may see the history of the record */
export function WatchItems({ recordId, mayExplain }: { recordId: string; mayExplain: boolean }) {
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
    <>
      <Menu.Item leftSection={<Icon size={14} />} disabled={data === undefined} onClick={() => change.mutate()}>
        {isWatching ? t.unwatch : t.watch}
      </Menu.Item>
      {mayExplain && (
        <Menu.Item
          leftSection={<IconBellQuestion size={14} />}
          renderRoot={(props) => <Link to="/records/$recordId/notifications" params={{ recordId }} {...props} />}
        >
          {t.whoIsNotified}
        </Menu.Item>
      )}
    </>
  );
}
