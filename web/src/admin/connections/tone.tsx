/** State of a background activity: a coloured dot with a label, so that the meaning does not depend on colour alone. */
import type { ReactNode } from 'react';
import classes from './tone.module.css';

export type Tone = 'good' | 'bad' | 'wait' | 'idle' | 'gone';

export function ToneMark({ tone, children }: { tone: Tone; children: ReactNode }) {
  return (
    <span className={classes.tone} data-tone={tone}>
      {children}
    </span>
  );
}

/** Properties in two columns where space allows. */
export function Facts({ facts }: { facts: readonly (readonly [string, ReactNode])[] }) {
  return (
    <dl className={classes.facts}>
      {facts.map(([name, value]) => (
        <div key={name} style={{ display: 'contents' }}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Raw request or response content. */
export function Raw({ label, children }: { label: string; children: string }) {
  return (
    <pre className={classes.code} tabIndex={0} role="group" aria-label={label}>
      {children}
    </pre>
  );
}
