/**
 * Issues, revokes and rotates API keys (docs/spec/access.md#api-keys). Every change changes the rights version, so it takes
 * effect in all processes within a second.
 */
import { isActive } from '../../contract/state.ts';
import * as store from './store.ts';
import ipaddr from 'ipaddr.js';
import { ADMIN_SCOPE, isScope, SCOPES } from '../../contract/scopes.ts';
import { Fault, faultAt, type FaultDetail } from '../../lib/fault.ts';
import { isId } from '../../lib/ids.ts';
import { problem, problemAt } from '../../lib/problem.ts';
import type { ReadContext, WriteContext } from '../../platform/unit-of-work/context.ts';
import { findKey } from '../identity/index.ts';
import { hash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

/** The limit of `contract.ts`, for callers other than HTTP. */
const LONGEST_NAME = 200;

export interface KeyAnswer {
  id: string;
  owner: string;
  ownerId: string;
  name: string;
  prefix: string;
  scopes: string[];
  allow: string[];
  createdAt: string;
  expiresAt: string | null;
  lastUsedAt: string | null;
  revokedAt: string | null;
}

export interface ShownKey {
  id: string;
  key: string;
  owner: string;
  scopes: string[];
  expiresAt: string | null;
}

function answer(row: store.KeyRow): KeyAnswer {
  return {
    id: row.id,
    owner: row.ownerLogin,
    ownerId: row.ownerId,
    name: row.name,
    prefix: `dk_${row.prefix}`,
    scopes: row.scopes,
    allow: row.allow,
    createdAt: row.createdAt,
    expiresAt: row.expiresAt,
    lastUsedAt: row.lastUsedAt,
    revokedAt: row.revokedAt,
  };
}

/** @throws Fault RIGHT_MISSING */
export async function listKeys(ctx: ReadContext): Promise<KeyAnswer[]> {
  ctx.actor.require('key.manage');
  // Callers without `role.assign` cannot issue keys for others, so they see only their own.
  const own = ctx.actor.has('role.assign') ? null : ctx.actor.userId;
  return (await store.listKeys(ctx, own)).map(answer);
}

export interface NewKeyInput {
  owner: string;
  name: string;
  /** Names of scopes; `all` stands for the 26 of the specification. */
  scopes: readonly string[];
  /** RFC 3339. */
  expiresAt?: string;
  /** CIDR ranges from which the key is accepted; empty: from any address. */
  allow?: readonly string[];
}

function checkedScopes(scopes: readonly string[], problems: FaultDetail[]): string[] {
  if (scopes.length === 0) {
    problems.push(problemAt('/scopes', 'KEY_WITHOUT_SCOPE'));
  }
  const named = scopes.flatMap((scope) => (scope === 'all' ? [...SCOPES] : [scope]));
  named.forEach((scope, index) => {
    if (!isScope(scope)) {
      problems.push(problemAt(`/scopes/${index}`, 'UNKNOWN_SCOPE', { known: [...SCOPES, ADMIN_SCOPE] }));
    }
  });
  return [...new Set(named)].sort();
}

function checkedExpiry(text: string | undefined, now: string, problems: FaultDetail[]): string | null {
  if (text === undefined) return null;
  try {
    const at = Temporal.Instant.from(text).toString({ smallestUnit: 'millisecond' });
    if (at > now) return at;
    problems.push(problemAt('/expiresAt', 'EXPIRY_IN_THE_PAST'));
  } catch {
    problems.push(problemAt('/expiresAt', 'EXPIRY_FORMAT'));
  }
  return null;
}

function checkedRanges(ranges: readonly string[], problems: FaultDetail[]): string[] {
  ranges.forEach((range, index) => {
    if (!ipaddr.isValidCIDR(range)) {
      problems.push(problemAt(`/allow/${index}`, 'ADDRESS_RANGE'));
    }
  });
  return [...ranges];
}

function refuse(problems: FaultDetail[]): void {
  if (problems.length > 0) {
    throw new Fault('INVALID_REQUEST', problem('PROBLEMS_IN_DETAILS'), problems);
  }
}

/** @throws Fault RIGHT_MISSING, INVALID_REQUEST */
export async function createKey(ctx: WriteContext, input: NewKeyInput): Promise<ShownKey> {
  ctx.actor.require('key.manage');
  const owner = await store.findUserByLogin(ctx, findKey(input.owner));
  if (owner?.id !== ctx.actor.userId) ctx.actor.require('role.assign');
  ctx.markAuthorized();
  const problems: FaultDetail[] = [];
  if (owner === undefined || !isActive(owner)) {
    problems.push(problemAt('/owner', 'NO_ACTIVE_LOGIN'));
  }
  const scopes = checkedScopes(input.scopes, problems);
  if (input.name.trim() === '' || [...input.name].length > LONGEST_NAME) {
    problems.push(problemAt('/name', 'NAME_LENGTH', { max: LONGEST_NAME }));
  }
  const expires = checkedExpiry(input.expiresAt, ctx.now, problems);
  const allow = checkedRanges(input.allow ?? [], problems);
  refuse(problems);
  if (owner === undefined) throw new Error('unreachable: the owner was refused above');
  const made = makeKey();
  const id = ctx.newId();
  ctx.plan(store.insertKey, {
    id,
    prefix: made.prefix,
    secretHash: made.hash.toString('hex'),
    ownerId: owner.id,
    name: input.name,
    scopes,
    allow,
    expiresAt: expires,
    createdAt: ctx.now,
    createdBy: ctx.actor.userId,
  });
  ctx.emit({ type: 'KeyCreated', subject: `key:${id}`, data: { owner: owner.login, name: input.name, scopes, allow } });
  ctx.invalidate('rights');
  return { id, key: made.key, owner: owner.login, scopes, expiresAt: expires };
}

async function requireKey(ctx: WriteContext, id: string): Promise<store.KeyRow> {
  ctx.actor.require('key.manage');
  const row = isId(id) ? await store.findKey(ctx, id) : undefined;
  const own = row?.ownerId === ctx.actor.userId;
  if (row === undefined || !(own || ctx.actor.has('role.assign'))) {
    throw new Fault('NOT_FOUND', 'There is no such key, or you may not manage it.');
  }
  return row;
}

/** Revoking a revoked key changes nothing. @throws Fault RIGHT_MISSING, NOT_FOUND */
export async function revokeKey(ctx: WriteContext, id: string): Promise<KeyAnswer> {
  const row = await requireKey(ctx, id);
  if (row.revokedAt !== null) return answer(row);
  ctx.plan(store.revokeKey, { id, revokedAt: ctx.now });
  ctx.emit({ type: 'KeyRevoked', subject: `key:${id}`, data: { owner: row.ownerLogin, name: row.name } });
  ctx.invalidate('rights');
  return { ...answer(row), revokedAt: ctx.now };
}

/** @throws Fault RIGHT_MISSING, NOT_FOUND, INVALID_REQUEST, ARCHIVED if the key is revoked */
export async function rotateKey(ctx: WriteContext, id: string, overlap = 'PT0S'): Promise<ShownKey> {
  const row = await requireKey(ctx, id);
  if (row.revokedAt !== null) throw new Fault('ARCHIVED', problem('KEY_REVOKED'));
  const until = overlapEnd(ctx.now, overlap);
  const made = makeKey(row.prefix);
  ctx.plan(store.rotateKey, {
    id,
    secretHash: made.hash.toString('hex'),
    oldHash: row.secretHash.toString('hex'),
    previousUntil: until,
  });
  ctx.emit({ type: 'KeyRotated', subject: `key:${id}`, data: { owner: row.ownerLogin, name: row.name, overlap } });
  ctx.invalidate('rights');
  return { id, key: made.key, owner: row.ownerLogin, scopes: row.scopes, expiresAt: row.expiresAt };
}

function overlapEnd(now: string, overlap: string): string | null {
  try {
    const duration = Temporal.Duration.from(overlap);
    const start = Temporal.Instant.from(now).toZonedDateTimeISO('UTC');
    const end = start.add(duration).toInstant();
    const past = Temporal.Instant.compare(end, start.toInstant());
    if (past === 0) return null;
    if (past > 0) return end.toString({ smallestUnit: 'millisecond' });
  } catch {
    // Not a duration: the error below also covers a duration that ends in the past.
  }
  throw faultAt('INVALID_REQUEST', '/overlap', 'OVERLAP_DURATION');
}

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const SHAPE = /^dk_([0-9A-Za-z]{16})_([0-9A-Za-z_-]{43})_([0-9A-Za-z]{6})$/;

function base62(bytes: Uint8Array, length: number): string {
  // 248 is the largest multiple of 62 in a byte: higher values would favour the first letters.
  let text = '';
  for (const byte of bytes) if (byte < 248 && text.length < length) text += ALPHABET[byte % 62];
  return text;
}

function random62(length: number): string {
  let text = '';
  while (text.length < length) text += base62(randomBytes(length * 2), length - text.length);
  return text;
}

function check(head: string): string {
  let rest = crc32(head);
  let text = '';
  for (let i = 0; i < 6; i++) {
    text = ALPHABET[rest % 62] + text;
    rest = Math.floor(rest / 62);
  }
  return text;
}

/** Makes a new secret for the key with the given id characters, or a new key. */
export function makeKey(prefix: string = random62(16)): { key: string; prefix: string; hash: Buffer } {
  const secret = randomBytes(32).toString('base64url');
  const head = `dk_${prefix}_${secret}`;
  return { key: `${head}_${check(head)}`, prefix, hash: hashSecret(secret) };
}

export function hashSecret(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}

/** The parts of a well-formed key with a valid checksum, else undefined. */
export function readKey(text: string): { prefix: string; secret: string } | undefined {
  const match = SHAPE.exec(text);
  if (match === null) return undefined;
  const [, prefix, secret, sum] = match as unknown as [string, string, string, string];
  return check(`dk_${prefix}_${secret}`) === sum ? { prefix, secret } : undefined;
}
