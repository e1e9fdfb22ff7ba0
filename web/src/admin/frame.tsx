/** Frame of an administration screen, with the administration's navigation. */
import { Loader, NativeSelect, ScrollArea } from '@mantine/core';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { type ComponentType, lazy, Suspense } from 'react';
import { NotFoundPage } from '../app/error-pages.tsx';
import { useHas } from '../app/session.ts';
import { texts as appTexts } from '../app/texts.ts';
import { useLanguage } from '../i18n/language.ts';
import { useText } from '../i18n/text.ts';
import { offered } from '../screens.ts';
import type { ScreenProps } from '../ui/page.tsx';
import classes from './admin.module.css';
import { AdminOverview, sectionTexts } from './overview.tsx';
import { adminScreens, SECTIONS } from './screens.ts';

const pages = new Map<string, ComponentType<ScreenProps>>(
  adminScreens.map((screen) => [screen.path, lazy(screen.load)]),
);

export function AdminScreen() {
  const t = useText(appTexts);
  const sections = useText(sectionTexts);
  const language = useLanguage();
  const has = useHas();
  const navigate = useNavigate();
  const { _splat = '' } = useParams({ from: '/inside/admin/$' });
  const [own = '', ...path] = _splat.split('/').filter((segment) => segment !== '');
  const screens = offered(adminScreens, has);
  if (own === '') return <AdminOverview />;
  const Page = screens.some((screen) => screen.path === own) ? pages.get(own) : undefined;
  if (Page === undefined) return <NotFoundPage />;
  const groups = SECTIONS.map((section) => ({
    section,
    screens: screens.filter((screen) => screen.section === section),
  })).filter((group) => group.screens.length > 0);
  return (
    <div className={classes.frame}>
      <ScrollArea className={classes.nav} type="hover" scrollbarSize={6}>
        <nav aria-label={t.sections}>
          {groups.map(({ section, screens: group }) => (
            <section key={section}>
              <h2 className={classes.navHeading}>{sections[section]}</h2>
              <ul className={classes.navList}>
                {group.map((screen) => (
                  <li key={screen.path}>
                    <Link to="/admin/$" params={{ _splat: screen.path }} className={classes.navLink}>
                      <screen.icon size={16} stroke={1.6} />
                      {screen.title[language]}
                    </Link>
                  </li>
                ))}
              </ul>
            </section>
          ))}
        </nav>
      </ScrollArea>
      <div className={classes.screen}>
        <div className={classes.up}>
          <Link to="/admin">← {t.administration}</Link>
          <NativeSelect
            aria-label={t.sections}
            value={own}
            onChange={(event) => void navigate({ to: '/admin/$', params: { _splat: event.currentTarget.value } })}
            data={groups.map(({ section, screens: group }) => ({
              group: sections[section],
              items: group.map((screen) => ({ value: screen.path, label: screen.title[language] })),
            }))}
          />
        </div>
        <Suspense fallback={<Loader m="xl" size="sm" />}>
          <Page path={path} />
        </Suspense>
      </div>
    </div>
  );
}
