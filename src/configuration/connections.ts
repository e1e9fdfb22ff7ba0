/**
 * Changes of connections by API calls. A connection is a configuration item that acts with a user's rights and can be enabled:
 * a webhook subscription or an inbound integration. Each write is one change of its item under the configuration lock.
 */
import { isArchived, type ItemState } from '../contract/state.ts';
import type { GlobalRight } from '../contract/rights.ts';
import { Fault, type FaultDetail } from '../lib/fault.ts';
import { problem } from '../lib/problem.ts';
import { pointer } from '../lib/json.ts';
import { type PlanNote, planNote } from '../lib/problem.ts';
import type { ReadContext, WriteContext } from '../platform/unit-of-work/context.ts';
import type { Change, CompileView, ConfigView, Report, StoredItem } from './section.ts';
import { loadItems, lockConfiguration, planItem } from './store.ts';

/** The item as a bundle defines it, and the same with ids. */
export interface ConnectionItem<Definition, Compiled> {
  definition: Definition;
  compiled: Compiled;
}

/** One kind of connection. */
export interface ConnectionKind {
  section: string;
  /** The right to manage connections of this kind. */
  right: GlobalRight;
  /** The noun in messages, for example "integration". */
  noun: string;
  /** Plans the rows of the item; default: those of every item. */
  write?: (ctx: WriteContext, change: Change) => void;
}

/**
 * A connection must not act with more rights than the caller could obtain. Either it runs as the caller, or the caller may
 * assign roles.
 *
 * @throws Fault RIGHT_MISSING
 */
export function requirePrincipal(ctx: WriteContext, principalId: string | null): void {
  if (principalId === null || principalId !== ctx.actor.userId) ctx.actor.require('role.assign');
}

/**
 * The rights that a change in a bundle needs, so that no user sets up a connection with more rights than their own
 * (docs/spec/webhooks-and-inbound.md#deliveries). As in the API, a caller without `role.assign` must be the execution principal
 * before and after the change.
 *
 * @param property of the definition with the login of the user whose rights it uses
 */
export function connectionRights(
  change: Change,
  view: CompileView,
  actorId: string | null,
  property = 'executionPrincipal',
): GlobalRight[] {
  if (change.action === 'archive') return [];
  const own = [change.stored?.definition, change.definition].every((definition) => {
    if (definition === undefined) return true;
    const principal = (definition as Record<string, string>)[property] ?? '';
    return view.has('users', principal) && view.id('users', principal) === actorId;
  });
  return own ? [] : ['role.assign'];
}

/**
 * The notes of a plan on a connection: whether it is enabled or disabled. An enabled connection is disabled, changed and enabled
 * in one transaction.
 */
export function connectionNotes({ action, stored, definition }: Change): PlanNote[] {
  const enabled = (of: unknown): boolean => (of as { enabled?: boolean } | undefined)?.enabled === true;
  const before = action !== 'create' && action !== 'restore' && enabled(stored?.definition);
  const after = action !== 'archive' && enabled(definition);
  if (before && after) return [planNote('REENABLED')];
  if (before) return [planNote('BECOMES_DISABLED')];
  return after ? [planNote('BECOMES_ENABLED')] : [];
}

/** Items that use secrets, as their sections define them. */
interface SecretUsers {
  webhooks: Iterable<{ secretRef: string }>;
  mailboxes: Iterable<{ imap?: { secretRef: string } | undefined }>;
}

/**
 * The codes of secrets that sign deliveries, and of those that are passwords of mailboxes. No secret may be both: the mail server
 * gets the password, and could sign deliveries with it. Archived items count, because they can be restored.
 */
function secretUses({ webhooks, mailboxes }: SecretUsers): {
  signing: ReadonlySet<string>;
  passwords: ReadonlySet<string>;
} {
  return {
    signing: new Set(Array.from(webhooks, ({ secretRef }) => secretRef)),
    passwords: new Set(Array.from(mailboxes).flatMap(({ imap }) => imap?.secretRef ?? [])),
  };
}

/** `secretUses` of all items of a bundle. */
export function secretUsesIn(view: ConfigView): ReturnType<typeof secretUses> {
  const all = <Item>(section: string): Item[] => [
    ...view.active<Item>(section).values(),
    ...view.archived<Item>(section).values(),
  ];
  return secretUses({ webhooks: all('webhooks'), mailboxes: all('mailboxes') });
}

/** `secretUses` of all stored items. */
export async function storedSecretUses(ctx: ReadContext): Promise<ReturnType<typeof secretUses>> {
  const all = async <Item>(section: string): Promise<Item[]> =>
    (await loadItems(ctx, section)).map(({ definition }) => definition as Item);
  return secretUses({ webhooks: await all('webhooks'), mailboxes: await all('mailboxes') });
}

/** Collects the errors of a request. `done` throws INVALID_REQUEST with all of them. */
export function collectErrors(): { report: Report; done: () => void } {
  const problems: FaultDetail[] = [];
  return {
    report: (path, found) => {
      problems.push({ path: pointer(...path), ...found });
    },
    done: () => {
      if (problems.length === 0) return;
      throw new Fault('INVALID_REQUEST', problem('PROBLEMS_IN_DETAILS'), problems);
    },
  };
}

/** Locks the configuration. @throws Fault ALREADY_EXISTS if the code is taken */
export async function requireNewCode(ctx: WriteContext, { section }: ConnectionKind, code: string): Promise<void> {
  await lockConfiguration(ctx);
  if ((await loadItems(ctx, section)).some((item) => item.code === code || item.formerCodes?.includes(code))) {
    throw new Fault('ALREADY_EXISTS', problem('CODE_TAKEN'), {
      field: 'code',
    });
  }
}

/** Locks the configuration and returns the stored connection. @throws Fault RIGHT_MISSING, NOT_FOUND */
export async function loadConnection<Definition, Compiled>(
  ctx: WriteContext,
  { section, right, noun }: ConnectionKind,
  id: string,
): Promise<{ stored: StoredItem; item: ConnectionItem<Definition, Compiled> }> {
  ctx.actor.require(right);
  await lockConfiguration(ctx);
  const stored = (await loadItems(ctx, section)).find((item) => item.id === id);
  if (stored === undefined) throw new Fault('NOT_FOUND', `There is no such ${noun}.`);
  const item = { definition: stored.definition as Definition, compiled: stored.compiled as Compiled };
  return { stored, item };
}

/** @throws Fault CONNECTION_ARCHIVED */
export function requireNotArchived({ noun }: ConnectionKind, stored: StoredItem): void {
  if (isArchived(stored)) {
    throw new Fault('CONNECTION_ARCHIVED', `The ${noun} is archived. Restore it first.`);
  }
}

function withEnabled<Definition, Compiled>(
  { definition, compiled }: ConnectionItem<Definition, Compiled>,
  enabled: boolean,
): ConnectionItem<Definition, Compiled> {
  return { definition: { ...definition, enabled }, compiled: { ...compiled, enabled } };
}

/** Plans one change of the item with its entry in the audit log. */
export function planConnectionChange(
  ctx: WriteContext,
  { section, write = planItem }: ConnectionKind,
  change: Pick<Change, 'action' | 'stored' | 'id' | 'code' | 'state'>,
  item: ConnectionItem<object, unknown>,
): void {
  write(ctx, { ...change, before: change.stored, section, ...item });
  const before = change.stored === undefined ? {} : { before: change.stored.definition };
  ctx.emit({
    type: 'ConfigChanged',
    subject: `${section}:${change.code}`,
    data: { action: change.action, ...before, after: item.definition },
  });
}

/** What can be done with a connection besides changing and restoring it. */
export type ConnectionStep = 'enable' | 'disable' | 'archive';

/**
 * Enables, disables or archives a connection. An archived one is disabled. No change if it is enabled or disabled already.
 *
 * @param requireReady throws if the connection cannot be enabled
 * @throws Fault RIGHT_MISSING, NOT_FOUND, CONNECTION_ARCHIVED, and those of `requireReady`
 */
export async function switchConnection<
  Definition extends object,
  Compiled extends { enabled: boolean; executionPrincipalId: string | null },
>(
  ctx: WriteContext,
  kind: ConnectionKind,
  id: string,
  step: ConnectionStep,
  requireReady?: (compiled: Compiled) => Promise<void>,
): Promise<{ id: string; state: ItemState; compiled: Compiled }> {
  const { stored, item } = await loadConnection<Definition, Compiled>(ctx, kind, id);
  const enabled = step === 'enable';
  if (enabled) requirePrincipal(ctx, item.compiled.executionPrincipalId);
  ctx.markAuthorized();
  requireNotArchived(kind, stored);
  if (step !== 'archive' && item.compiled.enabled === enabled) return { id, state: 'ACTIVE', compiled: item.compiled };
  if (enabled) await requireReady?.(item.compiled);
  const next = withEnabled(item, enabled);
  const change =
    step === 'archive'
      ? ({ action: 'archive', state: 'ARCHIVED' } as const)
      : ({ action: 'change', state: 'ACTIVE' } as const);
  planConnectionChange(ctx, kind, { ...change, stored, id, code: stored.code }, next);
  return { id, state: change.state, compiled: next.compiled };
}
