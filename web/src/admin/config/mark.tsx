/** Small marks of the administration: a state, and a notice. */
import { IconAlertTriangle } from '@tabler/icons-react';
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

/** A warning that is not an error. */
export function Notice({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className={classes.notice} role="status">
      <IconAlertTriangle size={16} />
      <div>
        <strong>{title}</strong>
        {children}
      </div>
    </div>
  );
}
