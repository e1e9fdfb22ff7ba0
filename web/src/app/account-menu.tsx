import { UnstyledButton } from '@mantine/core';
import { useState } from 'react';
import { OnFirstUse } from '../ui/on-first-use.tsx';
import { PersonMark } from '../ui/person.tsx';
import classes from './navigation.module.css';
import { useSession } from './session.ts';

const load = async () => (await import('./account-dropdown.tsx')).AccountDropdown;

/** The signed-in user, who opens the menu of their account. */
export function AccountMenu() {
  const { user } = useSession();
  const [opened, setOpened] = useState(false);
  return (
    <OnFirstUse popup="menu" load={load} more={{}} opened={opened} onOpened={setOpened}>
      <UnstyledButton className={classes.account}>
        <PersonMark name={user.displayName} />
        <span className={classes.name}>{user.displayName}</span>
      </UnstyledButton>
    </OnFirstUse>
  );
}
