import { Kbd } from '@mantine/core';
import classes from './navigation.module.css';

/** A keyboard shortcut hint; hidden on devices without a keyboard. */
export function KeyHint({ keys }: { keys: string }) {
  return (
    <Kbd size="xs" className={classes.key} aria-hidden="true">
      {keys}
    </Kbd>
  );
}
