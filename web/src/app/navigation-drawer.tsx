/** The navigation of small screens, which opens over the page. */
import { Drawer } from '@mantine/core';
import { Brand } from './brand.tsx';
import { Navigation } from './navigation.tsx';
import classes from './shell.module.css';

export function NavigationDrawer({ onClose }: { onClose: () => void }) {
  return (
    <Drawer
      opened
      onClose={onClose}
      size="17rem"
      title={<Brand />}
      classNames={{ content: classes.drawer, header: classes.drawerHeader, body: classes.drawerBody }}
    >
      <Navigation withBrand={false} />
    </Drawer>
  );
}
