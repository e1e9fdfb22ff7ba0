import type { ReactNode } from 'react';
import classes from './mark.module.css';

/** A word about a state, with a dot whose colour says the same. */
export function Mark({ tone, children }: { tone: 'good' | 'warn' | 'off'; children: ReactNode }) {
  return (
    <span className={classes.mark} data-tone={tone}>
      {children}
    </span>
  );
}
