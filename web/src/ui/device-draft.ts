/**
 * Drafts on this device: what a user typed and has not sent. They survive a reload, a crash and an ended session, and belong to
 * one user of the browser.
 */
import { notify } from './notify.tsx';
import { useEffect, useRef } from 'react';
import { useSession } from '../app/session.ts';
import { useText } from '../i18n/text.ts';
import { texts } from './texts.ts';

const PREFIX = 'docket.draft.';
/** Older drafts are removed, in milliseconds. */
const KEPT = 60 * 24 * 3_600_000;

interface Stored {
  at: number;
  value: unknown;
}

function read(key: string): Stored | undefined {
  try {
    const text = localStorage.getItem(PREFIX + key);
    return text === null ? undefined : (JSON.parse(text) as Stored);
  } catch {
    return undefined;
  }
}

/** Without storage, or if it is full, there is no draft; typing must go on. */
function write(key: string, value: unknown): void {
  try {
    if (value === undefined) localStorage.removeItem(PREFIX + key);
    else localStorage.setItem(PREFIX + key, JSON.stringify({ at: Date.now(), value } satisfies Stored));
  } catch {
    return;
  }
}

/** Removes drafts that have not been changed for a long time. Called once at the start of the console. */
export function removeOldDrafts(now: number): void {
  const keys = Array.from({ length: localStorage.length }, (_, index) => localStorage.key(index) ?? '');
  for (const key of keys.filter((one) => one.startsWith(PREFIX)).map((one) => one.slice(PREFIX.length))) {
    if (now - (read(key)?.at ?? 0) > KEPT) write(key, undefined);
  }
}

export interface DeviceDraft<Value> {
  /** The draft as it is stored; undefined if there is none. For the first state of a form. */
  read: () => Value | undefined;
  /** Keeps the value; undefined removes the draft. */
  keep: (value: Value | undefined) => void;
}

/**
 * The draft of one form.
 *
 * @param key what the draft belongs to, for example `comment.<record id>`; undefined: nothing is kept
 */
export function useDeviceDraft<Value>(key: string | undefined): DeviceDraft<Value> {
  const t = useText(texts);
  const { user } = useSession();
  const place = key === undefined ? undefined : `${user.id ?? ''}.${key}`;
  const open = useRef(false);
  const placeNow = useRef(place);
  placeNow.current = place;
  const notice = useRef(t.draftKept);
  notice.current = t.draftKept;
  // Leaving the page loses nothing, but the user should know that the text was not sent.
  useEffect(
    () => () => {
      if (open.current && placeNow.current !== undefined && read(placeNow.current) !== undefined)
        notify({ id: 'draft-kept', message: notice.current, color: 'yellow', autoClose: 5000 });
    },
    [],
  );
  const keep = (value: Value | undefined): void => {
    if (place === undefined) return;
    open.current = value !== undefined;
    write(place, value);
  };
  return { read: () => (place === undefined ? undefined : (read(place)?.value as Value | undefined)), keep };
}

/** Returns a function that removes a draft when what it belongs to was sent by another component. */
export function useForgetDraft(): (key: string) => void {
  const { user } = useSession();
  return (key) => write(`${user.id ?? ''}.${key}`, undefined);
}
