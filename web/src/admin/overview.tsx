/** Overview of the administration: its screens by section, with a line on each. */
import { Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useHas } from '../app/session.ts';
import { texts as appTexts } from '../app/texts.ts';
import { useLanguage } from '../i18n/language.ts';
import { defineText, useText } from '../i18n/text.ts';
import { offered } from '../screens.ts';
import { Page } from '../ui/page.tsx';
import classes from './admin.module.css';
import { adminScreens, SECTIONS } from './screens.ts';

export function AdminOverview() {
  const t = useText(appTexts);
  const sections = useText(sectionTexts);
  const language = useLanguage();
  const screens = offered(adminScreens, useHas());
  return (
    <Page title={t.administration}>
      {screens.length === 0 && <Text c="dimmed">{t.nothingHere}</Text>}
      {SECTIONS.map((section) => {
        const own = screens.filter((screen) => screen.section === section);
        if (own.length === 0) return null;
        return (
          <section key={section} className={classes.group}>
            <h2 className={classes.groupHeading}>{sections[section]}</h2>
            <ul className={classes.cards}>
              {own.map((screen) => (
                <li key={screen.path}>
                  <Link to="/admin/$" params={{ _splat: screen.path }} className={classes.card}>
                    <screen.icon size={20} stroke={1.5} />
                    <span>
                      <strong>{screen.title[language]}</strong>
                      {screen.summary !== undefined && <small>{screen.summary[language]}</small>}
                    </span>
                  </Link>
                </li>
              ))}
            </ul>
          </section>
        );
      })}
    </Page>
  );
}

/** Section headings of the administration's navigation. */
export const sectionTexts = defineText(
  {
    model: 'Записи и процессы',
    people: 'Пользователи и права',
    service: 'Услуги и SLA',
    connections: 'Интеграции и данные',
    knowledge: 'Знания',
    operation: 'Система',
  },
  {
    model: 'Records and workflows',
    people: 'Users and permissions',
    service: 'Services and SLA',
    connections: 'Integrations and data',
    knowledge: 'Knowledge',
    operation: 'System',
  },
);
