/** How something that runs by itself is doing: a dot beside the word, so that no meaning hangs on the colour alone. */
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

/** Properties by name, in two columns where there is room. */
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

/** What travelled, as it travelled. */
export function Raw({ label, children }: { label: string; children: string }) {
  return (
    <pre className={classes.code} tabIndex={0} role="group" aria-label={label}>
      {children}
    </pre>
  );
}
