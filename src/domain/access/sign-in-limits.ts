/**
 * How attempts to sign in are limited.
 *
 * Each attempt is counted before its password is verified. The pair of a login with an address (or with a device that this
 * person signed in from before) has a few free attempts, then must wait longer after each one, at most 30 s. Many attempts
 * on one login, or from one address, make pairs that are new there wait too. They do not touch a person who signs in from an
 * address or device that succeeded before, and no wait is longer than 30 s: a stranger can slow a login down, not lock it.
 */
import { createHash } from 'node:crypto';
import type { Sender } from '../../mechanisms/binding.ts';

/** Free attempts of one pair; the wait after the next ones is 2, 4, 8, 16 and then 30 s. */
export const FREE_OF_PAIR = 4;
/** Attempts on a login from places that are new to it, before such places must wait. */
export const FREE_OF_LOGIN = 10;
/** The same for an address, over all logins. */
export const FREE_OF_ADDRESS = 50;
export const LONGEST_WAIT_S = 30;
/** Counts start again after this time without an attempt. */
export const FORGOTTEN_AFTER_S = 900;
/** A place that nobody signed in from for this time is forgotten. */
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

/** What an attempt is counted under. `device`: only where the person signed in from it before. */
export function attemptKeys(loginKey: string, sender: Sender, device: string | undefined): AttemptKeys {
  const place = device === undefined ? addressPlace(sender) : devicePlace(device);
  return {
    pair: hashOf('pair', loginKey, place.toString('base64')),
    login: hashOf('login', loginKey),
    address: addressPlace(sender),
  };
}
