/** Between instants and what a clock of a time zone shows; apart, since rules without a page use it too. */

/** What a clock of the zone shows at an instant, as `2026-11-21T14:05:00` in milliseconds as if it were UTC. */
function wallOf(ms: number, zone: string | undefined): number {
  const parts = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  }).formatToParts(ms);
  const of = (type: string): number => Number(parts.find((part) => part.type === type)?.value ?? 0);
  return Date.UTC(of('year'), of('month') - 1, of('day'), of('hour'), of('minute'), of('second'));
}

/** An instant as an input of date and time takes it: `2026-11-21T14:05`; empty for what is none. */
export function toInput(instant: string, zone: string | undefined): string {
  const ms = Date.parse(instant);
  return Number.isNaN(ms) ? '' : new Date(wallOf(ms, zone)).toISOString().slice(0, 16);
}

/** The instant at which a clock of the zone shows this; of an hour that comes twice the first, empty for what is none. */
export function fromInput(text: string, zone: string | undefined): string {
  const wall = Date.parse(`${text}Z`);
  if (text === '' || Number.isNaN(wall)) return '';
  // The distance from UTC may differ between the guess and the answer: the second look settles it.
  const guess = wall - (wallOf(wall, zone) - wall);
  const found = wall - (wallOf(guess, zone) - guess);
  return new Date(found).toISOString();
}
