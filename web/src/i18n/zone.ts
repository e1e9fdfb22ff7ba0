/** The time zone in which the console shows and takes times: the person's own where their profile names one, else the browser's. */
import { useSyncExternalStore } from 'react';

const state: { zone: string | undefined; listeners: Set<() => void> } = { zone: undefined, listeners: new Set() };

function isZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** Undefined: the browser's. */
export function currentZone(): string | undefined {
  return state.zone;
}

/** Takes the zone of the person's profile; a name that the browser does not know counts as none. */
export function chooseZone(name: string | null): void {
  const zone = name !== null && isZone(name) ? name : undefined;
  if (zone === state.zone) return;
  state.zone = zone;
  for (const listener of state.listeners) listener();
}

function follow(listener: () => void): () => void {
  state.listeners.add(listener);
  return () => state.listeners.delete(listener);
}

export function useZone(): string | undefined {
  return useSyncExternalStore(follow, currentZone);
}

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
