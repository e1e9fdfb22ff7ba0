import type { ReactNode } from 'react';
import classes from './mark.module.css';

/** A state label with a coloured dot. */
export function Mark({ tone, children }: { tone: 'good' | 'warn' | 'off'; children: ReactNode }) {
  return (
    <span className={classes.mark} data-tone={tone}>
      {children}
    </span>
  );
}
