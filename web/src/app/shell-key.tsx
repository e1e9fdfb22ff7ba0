import { Kbd } from '@mantine/core';
import classes from './navigation.module.css';

/** A key beside what it does; only where there is a keyboard to speak of. */
export function KeyHint({ keys }: { keys: string }) {
  return (
    <Kbd size="xs" className={classes.key} aria-hidden="true">
      {keys}
    </Kbd>
  );
}
