/** Navigation: queues, record types, other screens, administration. Shows only what the user may access. */
import { ActionIcon, Button, Kbd } from '@mantine/core';
import { IconArchive, IconInbox, IconPlus, IconSearch, IconSettings } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { CreateMenu } from '../desk/create-menu.tsx';
import { type DeskType, deskTypesQuery, queuesQuery } from '../desk/queries.ts';
import { BuiltInLinks } from '../desk/queues/built-in-links.tsx';
import { QueueLinks } from '../desk/queues/queue-links.tsx';
import { useLanguage } from '../i18n/language.ts';
import { useText } from '../i18n/text.ts';
import { Bell } from '../notifications/bell.tsx';
import { ADMINISTRATION_RIGHTS, offered, workScreens } from '../screens.ts';
import { TypeMark } from '../ui/type-mark.tsx';
import { AccountMenu } from './account-menu.tsx';
import { Brand } from './brand.tsx';
import classes from './navigation.module.css';
import { useHas } from './session.ts';
import { texts } from './texts.ts';

export function Navigation({ withBrand = true }: { withBrand?: boolean }) {
  const t = useText(texts);
  const { data: types = [] } = useQuery(deskTypesQuery);
  const { data: queues = [] } = useQuery(queuesQuery);
  const readable = types.filter((type) => type.canRead);
  const dictionaries = readable.filter((type) => type.category === 'dictionary');
  return (
    <div className={classes.column}>
      {withBrand && (
        <div className={classes.head}>
          <Link to="/" className={classes.home}>
            <Brand />
          </Link>
        </div>
      )}
      <CreateAndSearch types={types} />
      <nav aria-label={t.navigation} className={classes.scroll}>
        <MainLinks />
        <BuiltInLinks />
        <QueueLinks queues={queues} />
        <TypeLinks heading={t.types} types={readable.filter((type) => type.category === 'object')} />
        {dictionaries.length > 0 && <TypeLinks heading={t.dictionaries} types={dictionaries} />}
        <LastLinks />
      </nav>
      <div className={classes.foot}>
        <AccountMenu />
      </div>
    </div>
  );
}

/** All records, search, and the screens of `/work/`. */
function MainLinks() {
  const has = useHas();
  const t = useText(texts);
  const language = useLanguage();
  const work = offered(workScreens, has);
  return (
    <ul className={classes.list}>
      <NavItem>
        <Link to="/records" search={{}} className={classes.link} activeOptions={{ exact: true, includeSearch: true }}>
          <IconInbox size={16} stroke={1.6} />
          {t.allRecords}
        </Link>
      </NavItem>
      <NavItem>
        <Link to="/search" search={{}} className={classes.link} activeOptions={{ includeSearch: false }}>
          <IconSearch size={16} stroke={1.6} />
          {t.search}
          <KeyHint keys="/" />
        </Link>
      </NavItem>
      <NavItem>
        <Bell className={classes.link} />
      </NavItem>
      {work.map((screen) => (
        <NavItem key={screen.path}>
          <Link to="/work/$" params={{ _splat: screen.path }} className={classes.link}>
            <screen.icon size={16} stroke={1.6} />
            {screen.title[language]}
          </Link>
        </NavItem>
      ))}
    </ul>
  );
}

/** The archive and the administration. */
function LastLinks() {
  const has = useHas();
  const t = useText(texts);
  const mayAdminister = ADMINISTRATION_RIGHTS.some(has);
  return (
    <ul className={`${classes.list} ${classes.last}`}>
      <NavItem>
        <Link
          to="/records"
          search={{ state: 'ARCHIVED' }}
          className={classes.link}
          activeOptions={{ includeSearch: true }}
        >
          <IconArchive size={16} stroke={1.6} />
          {t.archive}
        </Link>
      </NavItem>
      {mayAdminister && (
        <NavItem>
          <Link to="/admin" className={classes.link} activeOptions={{ exact: false }}>
            <IconSettings size={16} stroke={1.6} />
            {t.administration}
          </Link>
        </NavItem>
      )}
    </ul>
  );
}

function CreateAndSearch({ types }: { types: readonly DeskType[] }) {
  const t = useText(texts);
  return (
    <div className={classes.actions}>
      <CreateMenu types={types}>
        <Button leftSection={<IconPlus size={16} />} fullWidth>
          {t.create}
        </Button>
      </CreateMenu>
      <ActionIcon component={Link} to="/search" variant="default" size={30} aria-label={t.search}>
        <IconSearch size={16} />
      </ActionIcon>
    </div>
  );
}

function NavItem({ children }: { children: ReactNode }) {
  return <li>{children}</li>;
}

function TypeLinks({
  heading,
  types,
}: {
  heading: string;
  types: readonly { code: string; name: string; plural: string }[];
}) {
  if (types.length === 0) return null;
  return (
    <section>
      <h2 className={classes.heading}>{heading}</h2>
      <ul className={classes.list}>
        {types.map((type) => (
          <NavItem key={type.code}>
            <Link
              to="/records"
              search={{ type: type.code }}
              className={classes.link}
              activeOptions={{ includeSearch: true, exact: true }}
            >
              <TypeMark code={type.code} name={type.name} />
              <span className={classes.name}>{type.plural}</span>
            </Link>
          </NavItem>
        ))}
      </ul>
    </section>
  );
}

/** A keyboard shortcut hint; hidden on devices without a keyboard. */
export function KeyHint({ keys }: { keys: string }) {
  return (
    <Kbd size="xs" className={classes.key} aria-hidden="true">
      {keys}
    </Kbd>
  );
}
