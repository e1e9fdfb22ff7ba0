import { IconAlertTriangle } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import classes from './notice.module.css';

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
