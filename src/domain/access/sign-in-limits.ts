/**
 * Limits of attempts to sign in.
 *
 * Each attempt is counted before its password is verified. A pair is a login with an address, or with a device from which this
 * user signed in before. Each pair has a few free attempts. After each further attempt it must wait longer, at most 30 s.
 *
 * Many attempts on one login, or from one address, make new pairs wait, too. They do not affect a user who signs in from an
 * address or device that succeeded before. No wait exceeds 30 s: an attacker can slow a login down, but not lock it.
 */
import { createHash } from 'node:crypto';
import type { Sender } from '../../platform/unit-of-work/binding.ts';

/** Free attempts of one pair; the wait after the next ones is 2, 4, 8, 16 and then 30 s. */
export const FREE_OF_PAIR = 4;
/** Attempts on a login from places that are new to it, before such places must wait. */
export const FREE_OF_LOGIN = 10;
/** The same for an address, over all logins. */
export const FREE_OF_ADDRESS = 50;
export const LONGEST_WAIT_S = 30;
/** Counts start again after this time without an attempt. */
export const FORGOTTEN_AFTER_S = 900;
/** A place without a sign-in for this time is deleted. */
export const PLACE_KEPT_DAYS = 180;

function hashOf(...parts: string[]): Buffer {
  return createHash('sha256').update(JSON.stringify(parts)).digest();
}

export const addressPlace = (sender: Sender): Buffer => hashOf('address', sender.address);
export const devicePlace = (device: string): Buffer => hashOf('device', device);

export interface AttemptKeys {
  pair: Buffer;
  login: Buffer;
  address: Buffer;
}

/** The keys of the counters for an attempt. `device` is given only if the user signed in from it before. */
export function attemptKeys(loginKey: string, sender: Sender, device: string | undefined): AttemptKeys {
  const place = device === undefined ? addressPlace(sender) : devicePlace(device);
  return {
    pair: hashOf('pair', loginKey, place.toString('base64')),
    login: hashOf('login', loginKey),
    address: addressPlace(sender),
  };
}
