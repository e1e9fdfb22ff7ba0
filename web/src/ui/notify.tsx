/** Short messages in the corner of the page. Their code is loaded with the first message. */
import type { NotificationData } from '@mantine/notifications';
import { type ComponentType, useSyncExternalStore } from 'react';

type Notice = Pick<NotificationData, 'id' | 'title' | 'message' | 'color' | 'autoClose'>;

const state: { Notices: ComponentType | undefined; listeners: Set<() => void> } = {
  Notices: undefined,
  listeners: new Set(),
};

/** Shows a message. `autoClose`: milliseconds after which it disappears; without it, the default of the library. */
export function notify(notice: Notice): void {
  void load(notice);
}

async function load(notice: Notice): Promise<void> {
  const { Notices, show } = await import('./notices.tsx');
  show(notice);
  state.Notices = Notices;
  for (const listener of state.listeners) listener();
}

function subscribe(listener: () => void): () => void {
  state.listeners.add(listener);
  return () => state.listeners.delete(listener);
}

/** The place in the page where messages appear. */
export function NoticesHost() {
  const Notices = useSyncExternalStore(subscribe, () => state.Notices);
  return Notices === undefined ? null : <Notices />;
}
