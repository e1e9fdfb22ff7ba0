/**
 * Cursors of the changes feed: a place with the epochs that lead to it, under authenticated encryption with a random nonce. All
 * cursors have the same length, and two cursors tell nothing about what lies between them.
 */
import { createCipheriv, createDecipheriv } from 'node:crypto';
import type { Epoch, FeedState } from '../../platform/journal/places.ts';
import { secretBytes } from '../../platform/secrets.ts';

const VERSION = 1;
const NONCE_BYTES = 12;
/** Number of nonces that are generated at once. A page needs one for each event. */
const NONCES = 64;
const TAG_BYTES = 16;
/** Bytes of a place, and of the id of an epoch. */
const NUMBER_BYTES = 6;
/**
 * The epoch of the cursor and those before it. They find the last common place if the epoch itself was lost. Each start of the
 * database that is followed by events is an epoch.
 */
const EPOCHS = 8;
const PLAIN_BYTES = 1 + NUMBER_BYTES * (1 + 2 * EPOCHS);
/** Cursors of the first form, which are still read, hold three epochs. */
const FIRST_PLAIN_BYTES = 1 + NUMBER_BYTES * (1 + 2 * 3);
const PURPOSE = Buffer.from('docket feed cursor');

/** A place, and the newest epochs when the cursor was made, newest first. */
export interface Position {
  place: number;
  epochs: Epoch[];
}

/** @returns a function that makes the cursor of a place, in the current epoch */
export function cursorMaker({ cursorKey, epochs }: Pick<FeedState, 'cursorKey' | 'epochs'>): (place: number) => string {
  const key = Buffer.from(cursorKey, 'base64');
  const plain = Buffer.alloc(PLAIN_BYTES);
  plain[0] = VERSION;
  for (const [index, { id, after }] of epochs.slice(0, EPOCHS).entries()) {
    const at = 1 + NUMBER_BYTES * (1 + 2 * index);
    plain.writeUIntBE(id, at, NUMBER_BYTES);
    plain.writeUIntBE(after, at + NUMBER_BYTES, NUMBER_BYTES);
  }
  let nonces: Buffer = Buffer.alloc(0);
  return (place) => {
    plain.writeUIntBE(place, 1, NUMBER_BYTES);
    if (nonces.length === 0) nonces = secretBytes(NONCES * NONCE_BYTES);
    const nonce = nonces.subarray(0, NONCE_BYTES);
    nonces = nonces.subarray(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(PURPOSE);
    const sealed = Buffer.concat([nonce, cipher.update(plain), cipher.final()]);
    return Buffer.concat([sealed, cipher.getAuthTag()]).toString('base64url');
  };
}

/** Reads a cursor; undefined if the text is none. */
export function readCursor(text: string, cursorKey: string): Position | undefined {
  const bytes = Buffer.from(text, 'base64url');
  // Decoding ignores other characters; only the text that was given out is a cursor.
  const plainBytes = bytes.length - NONCE_BYTES - TAG_BYTES;
  if (plainBytes !== PLAIN_BYTES && plainBytes !== FIRST_PLAIN_BYTES) return undefined;
  if (bytes.toString('base64url') !== text) return undefined;
  const decipher = createDecipheriv('aes-256-gcm', Buffer.from(cursorKey, 'base64'), bytes.subarray(0, NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  });
  decipher.setAAD(PURPOSE).setAuthTag(bytes.subarray(-TAG_BYTES));
  let plain: Buffer;
  try {
    plain = Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
  } catch {
    return undefined;
  }
  if (plain[0] !== VERSION) return undefined;
  const number = (at: number): number => plain.readUIntBE(1 + NUMBER_BYTES * at, NUMBER_BYTES);
  const epochs = Array.from({ length: (plainBytes - 1 - NUMBER_BYTES) / (2 * NUMBER_BYTES) }, (_, index) => ({
    id: number(1 + 2 * index),
    after: number(2 + 2 * index),
  }));
  return { place: number(0), epochs: epochs.filter(({ id }) => id !== 0) };
}

/**
 * The last place that the history of the cursor and the present one have in common. It is the cursor's own place unless later
 * places were lost.
 */
export function commonPlace({ place, epochs }: Position, state: FeedState): number {
  let end = place;
  for (const { id, after } of epochs) {
    const known = state.epochs.findIndex((epoch) => epoch.id === id);
    if (known !== -1) return Math.min(end, state.epochs[known - 1]?.after ?? state.place);
    // Events of an epoch that no longer exists were lost.
    end = Math.min(end, after);
  }
  return 0;
}
