import { Notifications, notifications } from '@mantine/notifications';
import '@mantine/notifications/styles.css';

/** The place in the page where messages appear. */
export function Notices() {
  return <Notifications position="bottom-right" zIndex={500} />;
}

export const { show } = notifications;
