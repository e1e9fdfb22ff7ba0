import { usePlaceText } from '../../ui/fault.tsx';
import type { Tone } from '../connections/tone.tsx';
import classes from './imports.module.css';
import type { RowStatus, Run } from './queries.ts';

export const TONES: Readonly<Record<RowStatus, Tone>> = {
  CREATED: 'good',
  UPDATED: 'good',
  SKIPPED: 'idle',
  FAILED: 'bad',
};

/** What is wrong with a row, place by place. */
export function RowErrors({ errors }: { errors: Run['rows'][number]['errors'] }) {
  const placeText = usePlaceText();
  return (
    <ul className={classes.errors}>
      {errors.map((error) => (
        <li key={`${error.path} ${error.code} ${error.message}`}>{placeText(error)}</li>
      ))}
    </ul>
  );
}
