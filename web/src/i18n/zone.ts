/** The time zone of the console: that of the user's profile, else the browser's. */
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

/** Undefined means the browser's time zone. */
export function currentZone(): string | undefined {
  return state.zone;
}

/** Sets the time zone of the user's profile. Names that the browser does not know are ignored. */
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
