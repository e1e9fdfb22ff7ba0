import type { WorkflowState } from '../../api/types.ts';
import classes from './state-badge.module.css';

/** A state badge. The icon also shows the category, so that it does not depend on colour alone. */
export function StateBadge({ state }: { state: Pick<WorkflowState, 'name' | 'category'> }) {
  return (
    <span className={classes.badge} data-category={state.category}>
      <svg width="9" height="9" viewBox="0 0 10 10" aria-hidden="true">
        {state.category === 'open' && <circle cx="5" cy="5" r="4" className={classes.ring} />}
        {state.category === 'waiting' && <path d="M2.5 1.5v7M7.5 1.5v7" className={classes.ring} />}
        {state.category === 'done' && <path d="M1 5.4 4 8.2 9 2" className={classes.ring} />}
      </svg>
      {state.name}
    </span>
  );
}
