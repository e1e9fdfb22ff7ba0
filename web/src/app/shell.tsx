/** The frame of all screens: navigation (a drawer on small screens), the screen, and global keyboard shortcuts. */
import { ActionIcon, Loader } from '@mantine/core';
import { useDisclosure, useHotkeys, useMediaQuery } from '@mantine/hooks';
import { IconMenu2, IconSearch } from '@tabler/icons-react';
import { Link, Outlet, useNavigate, useRouterState } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useState } from 'react';
import { useInterface } from '../portal/access.ts';
import { useText } from '../i18n/text.ts';
import { Bell } from '../notifications/bell.tsx';
import { Brand } from './brand.tsx';
import { Navigation } from './navigation.tsx';
import classes from './shell.module.css';
import { texts } from './texts.ts';

const PortalFrame = lazy(async () => ({ default: (await import('../portal/frame.tsx')).PortalFrame }));
const NavigationDrawer = lazy(async () => ({ default: (await import('./navigation-drawer.tsx')).NavigationDrawer }));
const Palette = lazy(async () => ({ default: (await import('./palette.tsx')).Palette }));
const ShortcutHelp = lazy(async () => ({ default: (await import('./palette.tsx')).ShortcutHelp }));

/** The frame of the interface that the user is in. */
export function Shell() {
  const current = useInterface();
  if (current === undefined) return <Loader m="xl" size="sm" />;
  if (current === 'desk') return <DeskShell />;
  return (
    <Suspense fallback={<Loader m="xl" size="sm" />}>
      <PortalFrame />
    </Suspense>
  );
}

function DeskShell() {
  const t = useText(texts);
  const [opened, { open, close }] = useDisclosure(false);
  const narrow = useMediaQuery('(max-width: 56em)', false, { getInitialValueInEffect: false });
  const place = useRouterState({ select: (state) => state.location.href });
  // Closes the drawer after a navigation.
  useEffect(() => {
    if (place !== '') close();
  }, [place, close]);
  return (
    <div className={classes.shell}>
      <SkipLinks />
      <Dialogs />
      {narrow ? (
        <header className={classes.top}>
          <ActionIcon size="lg" onClick={open} aria-label={t.menu} aria-expanded={opened}>
            <IconMenu2 size={20} />
          </ActionIcon>
          <Link to="/" className={classes.home}>
            <Brand />
          </Link>
          <div className={classes.tools}>
            <Bell iconOnly />
            <ActionIcon size="lg" component={Link} to="/search" aria-label={t.search}>
              <IconSearch size={18} />
            </ActionIcon>
          </div>
        </header>
      ) : (
        <aside className={classes.side}>
          <Navigation />
        </aside>
      )}
      <Suspense>{narrow && opened && <NavigationDrawer onClose={close} />}</Suspense>
      <main id="content" className={classes.main} tabIndex={-1}>
        <Outlet />
      </main>
    </div>
  );
}

/** Links for the keyboard, past the navigation and past the tools of a list. */
function SkipLinks() {
  const t = useText(texts);
  const onList = useRouterState({ select: ({ location }) => /^\/(records|queues\/[^/]+)$/.test(location.pathname) });
  return (
    <>
      <a href="#content" className={classes.skip}>
        {t.skip}
      </a>
      {onList && (
        <a href="#list" className={classes.skip}>
          {t.skipToList}
        </a>
      )}
    </>
  );
}

/** The command palette and the list of keys, with the keys that open them. */
function Dialogs() {
  const navigate = useNavigate();
  const [dialog, setDialog] = useState<'palette' | 'help'>();
  const close = (): void => setDialog(undefined);
  const help = (): void => setDialog('help');
  useHotkeys([
    ['/', () => void navigate({ to: '/search' })],
    ['shift+?', help],
  ]);
  // Also while the user types somewhere.
  useHotkeys([['mod+K', () => setDialog('palette'), { usePhysicalKeys: true }]], []);
  return (
    <Suspense>
      {dialog === 'palette' && <Palette opened onClose={close} onHelp={help} />}
      {dialog === 'help' && <ShortcutHelp opened onClose={close} />}
    </Suspense>
  );
}
