/** Converts between instants and local times of a time zone. A separate module, because code without a page uses it too. */

/** The local time in the zone at an instant, in milliseconds as if it were UTC. */
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

/** An instant as the value of a datetime input: `2026-11-21T14:05`; empty if invalid. */
export function toInput(instant: string, zone: string | undefined): string {
  const ms = Date.parse(instant);
  return Number.isNaN(ms) ? '' : new Date(wallOf(ms, zone)).toISOString().slice(0, 16);
}

/** The instant of a local time in the zone; the first of two in a repeated hour; empty if invalid. */
export function fromInput(text: string, zone: string | undefined): string {
  const wall = Date.parse(`${text}Z`);
  if (text === '' || Number.isNaN(wall)) return '';
  // The UTC offset may differ between the guess and the result, so it is computed twice.
  const guess = wall - (wallOf(wall, zone) - wall);
  const found = wall - (wallOf(guess, zone) - guess);
  return new Date(found).toISOString();
}
