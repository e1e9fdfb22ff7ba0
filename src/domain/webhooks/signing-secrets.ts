/**
 * Signing secrets. Their names are configuration, their values are stored here (docs/spec/configuration.md#command-line,
 * docs/spec/webhooks-and-inbound.md#signatures). A value is shown once, when it is created, and stored encrypted. A rotation
 * creates the next value; the previous one stays valid for the overlap.
 */
import { isArchived, type ItemState } from '../../contract/state.ts';
import { Fault, faultAt } from '../../lib/fault.ts';
import { problem } from '../../lib/problem.ts';
import type { Change, StoredItem } from '../../configuration/section.ts';
import { loadItems, lockConfiguration, planItem } from '../../configuration/store.ts';
import type { ReadContext, WriteContext } from '../../platform/unit-of-work/context.ts';
import type { Queryable } from '../../platform/database/pool.ts';
import { useMasterKey } from '../../platform/master-key.ts';
import { type SecretBox, secretBytes } from '../../platform/secrets.ts';
import { type CompiledWebhook, shownSecret } from './rules.ts';
import { requirePrincipal, storedSecretUses } from '../../configuration/connections.ts';
import { findSecret } from './store-delivery.ts';
import { dropValues, insertValue, listValues, replaceValues, type SecretValueRow } from './store.ts';

const RIGHT = 'webhook.manage';
const SECTION = 'signingSecrets';
const SECRET_BYTES = 32;

export interface SecretAnswer {
  id: string;
  code: string;
  state: ItemState;
  /** Whether the secret has a value. If not, subscriptions that use it cannot be enabled. */
  hasValue: boolean;
  /** Creation time of the current value. */
  createdAt: string | null;
  /** End of validity of the previous value; null if there is none. */
  previousUntil: string | null;
}

/** Binds the encrypted value to its secret and version. */
export function sealPurpose(secretId: string, version: number): string {
  return `signing secret ${secretId} ${version}`;
}

function answer(item: StoredItem, values: readonly SecretValueRow[]): SecretAnswer {
  const own = values.filter(({ secretId }) => secretId === item.id);
  const current = own.find(({ expiresAt }) => expiresAt === null);
  const previous = own.find(({ expiresAt }) => expiresAt !== null);
  return {
    id: item.id,
    code: item.code,
    state: item.state,
    hasValue: current !== undefined,
    createdAt: current?.createdAt ?? null,
    previousUntil: previous?.expiresAt ?? null,
  };
}

/** @throws Fault RIGHT_MISSING */
export async function listSecrets(ctx: ReadContext): Promise<SecretAnswer[]> {
  ctx.actor.require(RIGHT);
  const items = await loadItems(ctx, SECTION);
  const values = await listValues(
    ctx,
    items.map(({ id }) => id),
  );
  return items.map((item) => answer(item, values));
}

interface Shown {
  code: string;
  /** The secret itself; it is returned only once. */
  secret: string;
}

async function makeValue(
  ctx: WriteContext,
  box: SecretBox,
  { secretId, version }: { secretId: string; version: number },
  secret = shownSecret(secretBytes(SECRET_BYTES)),
): Promise<string> {
  await useMasterKey(ctx, box);
  const sealed = box.seal(secret, sealPurpose(secretId, version)).toString('hex');
  ctx.plan(insertValue, { secretId, version, sealed, createdAt: ctx.now });
  return secret;
}

/**
 * A new value is shown to the caller, who could then forge deliveries of every subscription with this secret. The caller must
 * therefore have the right to manage each of them, including archived ones, because they can be restored. Call this under the
 * lock of the configuration, which every change of a subscription takes.
 *
 * @throws Fault RIGHT_MISSING
 */
async function requireUsers(ctx: WriteContext, code: string): Promise<void> {
  for (const { compiled } of await loadItems(ctx, 'webhooks')) {
    const { secretRef, executionPrincipalId } = compiled as CompiledWebhook;
    if (secretRef === code) requirePrincipal(ctx, executionPrincipalId);
  }
  // As for every change of a mailbox.
  if ((await storedSecretUses(ctx)).passwords.has(code)) ctx.actor.require('role.assign');
}

/**
 * Creates the first value of a secret, and the secret itself if the configuration does not contain it yet.
 *
 * @throws Fault RIGHT_MISSING, ALREADY_EXISTS with `{field: 'code'}`, ARCHIVED
 */
export async function createSecret(ctx: WriteContext, box: SecretBox, code: string): Promise<Shown> {
  ctx.actor.require(RIGHT);
  await lockConfiguration(ctx);
  await requireUsers(ctx, code);
  ctx.markAuthorized();
  const stored = (await loadItems(ctx, SECTION)).find((item) => item.code === code);
  if (isArchived(stored)) throw archived();
  if (stored !== undefined && (await listValues(ctx, [stored.id])).length > 0) {
    throw new Fault('ALREADY_EXISTS', problem('SECRET_HAS_VALUE'), {
      field: 'code',
    });
  }
  const id = stored?.id ?? planSecret(ctx, code);
  ctx.emit({ type: 'SigningSecretCreated', subject: `${SECTION}:${code}` });
  return { code, secret: await makeValue(ctx, box, { secretId: id, version: 1 }) };
}

/** Plans the item of a new secret. @returns its id */
function planSecret(ctx: WriteContext, code: string): string {
  const id = ctx.newId();
  const definition = { code };
  const change: Change = {
    action: 'create',
    section: SECTION,
    id,
    code,
    stored: undefined,
    before: undefined,
    state: 'ACTIVE',
    definition,
    compiled: definition,
  };
  planItem(ctx, change);
  ctx.emit({ type: 'ConfigChanged', subject: `${SECTION}:${code}`, data: { action: 'create', after: definition } });
  return id;
}

/**
 * Stores a value that another system gave out, such as the password of a mail account. It replaces the current one at once. A
 * secret that signs deliveries is never chosen by a person.
 *
 * @throws Fault RIGHT_MISSING, ARCHIVED, STATE_CONFLICT if a webhook signs with it
 */
export async function setSecret(ctx: WriteContext, box: SecretBox, code: string, value: string): Promise<void> {
  ctx.actor.require(RIGHT);
  await lockConfiguration(ctx);
  await requireUsers(ctx, code);
  ctx.markAuthorized();
  if ((await storedSecretUses(ctx)).signing.has(code)) throw new Fault('STATE_CONFLICT', problem('SIGNING_SECRET_SET'));
  const stored = (await loadItems(ctx, SECTION)).find((item) => item.code === code);
  if (isArchived(stored)) throw archived();
  const current = stored === undefined ? undefined : (await listValues(ctx, [stored.id]))[0];
  const secretId = stored?.id ?? planSecret(ctx, code);
  const version = (current?.version ?? 0) + 1;
  ctx.plan(dropValues, { secretId, below: version });
  await makeValue(ctx, box, { secretId, version }, value);
  const type = current === undefined ? 'SigningSecretCreated' : 'SigningSecretRotated';
  ctx.emit({ type, subject: `${SECTION}:${code}` });
}

/**
 * Creates the next value. It signs from now on; the previous value also signs until the overlap ends. Requires the right to
 * manage every subscription with this secret.
 *
 * @param overlap ISO 8601 duration
 * @throws Fault RIGHT_MISSING, NOT_FOUND, ARCHIVED, INVALID_REQUEST
 */
export async function rotateSecret(
  ctx: WriteContext,
  box: SecretBox,
  code: string,
  overlap = 'PT0S',
): Promise<Shown & { previousUntil: string | null }> {
  ctx.actor.require(RIGHT);
  await lockConfiguration(ctx);
  await requireUsers(ctx, code);
  ctx.markAuthorized();
  const stored = (await loadItems(ctx, SECTION)).find((item) => item.code === code);
  if (stored === undefined) throw new Fault('NOT_FOUND', 'There is no such signing secret.');
  if (isArchived(stored)) throw archived();
  const until = overlapEnd(ctx.now, overlap);
  const current = (await listValues(ctx, [stored.id])).find(({ expiresAt }) => expiresAt === null);
  const version = current?.version ?? 0;
  ctx.plan(replaceValues, { secretId: stored.id, version, expiresAt: until });
  ctx.plan(dropValues, { secretId: stored.id, below: until === null ? version + 1 : version });
  const secret = await makeValue(ctx, box, { secretId: stored.id, version: version + 1 });
  ctx.emit({ type: 'SigningSecretRotated', subject: `${SECTION}:${code}`, data: { overlap } });
  return { code, secret, previousUntil: version === 0 ? null : until };
}

/** The current value of a secret, for a connection that uses it as a password; undefined if it has none. @throws SealBroken */
export async function secretText(db: Queryable, box: SecretBox, code: string): Promise<string | undefined> {
  const found = await findSecret(db, code);
  return found === undefined ? undefined : box.open(found.sealed, sealPurpose(found.secretId, found.version));
}

function archived(): Fault {
  return new Fault('ARCHIVED', problem('SECRET_ARCHIVED'));
}

/** The end of the overlap; null for none. @throws Fault INVALID_REQUEST */
function overlapEnd(now: string, overlap: string): string | null {
  try {
    const start = Temporal.Instant.from(now);
    const end = start.toZonedDateTimeISO('UTC').add(Temporal.Duration.from(overlap)).toInstant();
    const order = Temporal.Instant.compare(end, start);
    if (order >= 0) return order === 0 ? null : end.toString({ smallestUnit: 'millisecond' });
  } catch {
    // Reported below, together with a duration that ends in the past.
  }
  throw faultAt('INVALID_REQUEST', '/overlap', 'OVERLAP_DURATION');
}
