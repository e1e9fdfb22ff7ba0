/** The time left until the next time limit of a record, in words: working time where the calendar has working hours. */
import { useText } from '../../i18n/text.ts';
import classes from './list.module.css';
import type { Row } from './source.ts';
import { texts } from './texts.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Less than this share of the target left counts as close to the breach. */
const CLOSE = 0.25;

/** True if the time left is shown in amber, in lists and on the record. Warnings of the policy may be earlier: they are reminders. */
export const isClose = (remainingMs: number, targetMs: number): boolean => remainingMs < targetMs * CLOSE;

export function TimeLeft({ sla }: { sla: Row['sla'] | null }) {
  const t = useText(texts);
  if (sla === null || sla === undefined) return null;
  const { remainingMs, targetMs } = sla;
  if (remainingMs === null) {
    return sla.breached ? <span className={classes.timeLeft}>{t.slaWasBreached}</span> : null;
  }
  const close = !sla.paused && isClose(remainingMs, targetMs ?? 0);
  const level = sla.breached ? 'breached' : close ? 'close' : undefined;
  // Short units: the word before them takes the room.
  const short = { ...t, workingMinutes: t.shortMinutes, workingHours: t.shortHours };
  const { workingTime } = sla;
  const said =
    remainingMs < 0 ? t.slaOver(timeText(-remainingMs, workingTime, short)) : timeText(remainingMs, workingTime, t);
  return (
    <span className={classes.timeLeft} data-level={level} title={sla.policyName ?? undefined}>
      {level === 'close' && '⚠ '}
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
