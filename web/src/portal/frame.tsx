/** The frame of the portal: a header with few links; on a telephone they stand at the bottom. */
import { IconBook2, IconHome, IconListCheck } from '@tabler/icons-react';
import { Link, Outlet } from '@tanstack/react-router';
import { ARTICLE_READING_RIGHTS } from '../../../src/contract/rights.ts';
import { AccountMenu } from '../app/account-menu.tsx';
import { Brand } from '../app/brand.tsx';
import { useHas } from '../app/session.ts';
import shell from '../app/shell.module.css';
import { texts as appTexts } from '../app/texts.ts';
import { useText } from '../i18n/text.ts';
import { Bell } from '../notifications/bell.tsx';
import classes from './portal.module.css';
import { texts } from './texts.ts';

export function PortalFrame() {
  const t = useText(texts);
  const common = useText(appTexts);
  const has = useHas();
  const links = [
    { to: '/portal', label: t.home, icon: IconHome, exact: true },
    { to: '/portal/requests', label: t.requests, icon: IconListCheck, exact: false },
    ...(ARTICLE_READING_RIGHTS.some(has)
      ? [{ to: '/portal/articles', label: t.knowledge, icon: IconBook2, exact: false }]
      : []),
  ];
  return (
    <div className={classes.frame}>
      <a href="#content" className={shell.skip}>
        {common.skip}
      </a>
      <header className={classes.top}>
        <Link to="/portal/$" params={{ _splat: '' }} className={classes.brand}>
          <Brand />
        </Link>
        <nav aria-label={common.navigation} className={classes.links}>
          {links.map(({ to, label, icon: Icon, exact }) => (
            <Link key={to} to={to} activeOptions={{ exact }}>
              <Icon size={18} stroke={1.6} aria-hidden="true" />
              {label}
            </Link>
          ))}
        </nav>
        <div className={classes.account}>
          <Bell iconOnly />
          <AccountMenu />
        </div>
      </header>
      <main id="content" className={classes.main} tabIndex={-1}>
        <Outlet />
      </main>
    </div>
  );
}
