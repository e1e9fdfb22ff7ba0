/** The time left until the next time limit of a record, in words: working time where the calendar has working hours. */
import { useText } from '../../i18n/text.ts';
import classes from './list.module.css';
import type { Row } from './source.ts';
import { texts } from './texts.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Less than this share of the target left counts as close to the breach, also without a warning of the policy. */
const CLOSE = 0.25;

export function TimeLeft({ sla }: { sla: Row['sla'] | null }) {
  const t = useText(texts);
  if (sla === null || sla === undefined) return null;
  const { remainingMs, targetMs } = sla;
  if (remainingMs === null) {
    return sla.breached ? <span className={classes.timeLeft}>{t.slaWasBreached}</span> : null;
  }
  const close = sla.warned || remainingMs < (targetMs ?? 0) * CLOSE;
  const level = sla.breached ? 'breached' : close && !sla.paused ? 'warned' : undefined;
  const text = timeText(Math.abs(remainingMs), sla.workingTime, t);
  const said = remainingMs < 0 ? t.slaOver(text) : text;
  return (
    <span className={classes.timeLeft} data-level={level} title={sla.policyName ?? undefined}>
      {level === 'warned' && '⚠ '}
      {sla.paused ? t.slaPaused(said) : said}
    </span>
  );
}

/** Marks a record whose time limit was breached. */
export function Breached() {
  const t = useText(texts);
  return (
    <span className={classes.timeLeft} data-level="breached">
      {t.yes}
    </span>
  );
}

/** The largest fitting unit, rounded down: «24 рабочих часа», «35 минут», «3 дня». Days count around the clock only. */
export function timeText(ms: number, working: boolean, t: (typeof texts)['ru-RU']): string {
  if (ms < HOUR) return working ? t.workingMinutes(Math.floor(ms / MINUTE)) : t.minutes(Math.floor(ms / MINUTE));
  if (working) return t.workingHours(Math.floor(ms / HOUR));
  return ms < 2 * DAY ? t.hours(Math.floor(ms / HOUR)) : t.days(Math.floor(ms / DAY));
}
