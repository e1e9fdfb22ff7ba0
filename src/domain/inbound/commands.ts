/**
 * Writes of integrations (docs/spec/webhooks-and-inbound.md#inbound-integrations,
 * docs/spec/configuration.md#administration-api). An integration is a configuration item. Each write is one change of this
 * item, made under the lock for changes of the configuration.
 */
import { isActive, type ItemState } from '../../contract/state.ts';
import { Fault } from '../../lib/fault.ts';
import { problem } from '../../lib/problem.ts';
import {
  collectErrors,
  type ConnectionItem,
  type ConnectionKind,
  type ConnectionStep,
  loadConnection,
  planConnectionChange,
  requireNewCode,
  requireNotArchived,
  requirePrincipal,
  switchConnection,
} from '../../configuration/connections.ts';
import type { TypeShape } from '../../configuration/record-types.ts';
import type { Change, CompileView, StoredItem } from '../../configuration/section.ts';
import { loadItems } from '../../configuration/store.ts';
import { canName } from '../../contract/rights.ts';
import type { ReadContext, WriteContext } from '../../platform/unit-of-work/context.ts';
import { whoIs } from '../identity/index.ts';
import { type IntegrationAnswer, integrationAnswer, RIGHT, SECTION } from './queries.ts';
import { compileIntegration, type CompiledIntegration, type IntegrationDefinition } from './registry.ts';

export interface IntegrationInput {
  /** Null only if the stored user is unknown; such a value is refused. */
  executionPrincipalId: string | null;
  /** `typeDefinitionId` takes an id or a code. */
  config: IntegrationDefinition['config'];
}

export interface NewIntegration extends IntegrationInput {
  code: string;
  type: 'inbound-webhook';
  enabled?: boolean | undefined;
}

const KIND: ConnectionKind = { section: SECTION, right: RIGHT, noun: 'integration' };

type Item = ConnectionItem<IntegrationDefinition, CompiledIntegration>;

/** Builds the item that a call asks for. @throws Fault INVALID_REQUEST with every error */
async function itemOf(
  ctx: WriteContext,
  code: string,
  enabled: boolean,
  { executionPrincipalId, config }: IntegrationInput,
): Promise<Item> {
  const { report, done } = collectErrors();
  const names = await loadNames(ctx, executionPrincipalId);
  if (names.login === undefined) {
    report(['executionPrincipalId'], problem('NO_ACTIVE_USER'));
  }
  const { typeDefinitionId: named, ...rest } = config;
  const typeDefinitionId = named === undefined ? undefined : names.typeCode(named);
  if (named !== undefined && typeDefinitionId === undefined) {
    report(['config', 'typeDefinitionId'], problem('NO_TYPE'));
  }
  const definition: IntegrationDefinition = {
    code,
    type: 'inbound-webhook',
    executionPrincipal: names.login ?? '',
    enabled,
    config: { ...rest, ...(named === undefined ? {} : { typeDefinitionId: typeDefinitionId ?? named }) },
  };
  const compiled = compileIntegration(definition, names.view, report);
  done();
  return { definition, compiled };
}

/** Plans one change of the item with its entry in the audit log. */
function planChange(
  ctx: WriteContext,
  action: Change['action'],
  stored: StoredItem | undefined,
  { id, code, state, item }: { id: string; code: string; state: ItemState; item: Item },
): IntegrationAnswer {
  planConnectionChange(ctx, KIND, { action, stored, id, code, state }, item);
  return integrationAnswer(id, state, item.compiled);
}

/**
 * Creates an integration (docs/spec/webhooks-and-inbound.md#inbound-integrations), disabled unless `enabled` is true.
 *
 * @throws Fault RIGHT_MISSING, ALREADY_EXISTS with `{field: 'code'}`, INVALID_REQUEST
 */
export async function createIntegration(ctx: WriteContext, input: NewIntegration): Promise<IntegrationAnswer> {
  ctx.actor.require(RIGHT);
  requirePrincipal(ctx, input.executionPrincipalId);
  ctx.markAuthorized();
  const { code } = input;
  await requireNewCode(ctx, KIND, code);
  const item = await itemOf(ctx, code, input.enabled ?? false, input);
  return planChange(ctx, 'create', undefined, { id: ctx.newId(), code, state: 'ACTIVE', item });
}

/** Locks the configuration and returns the stored integration. @throws Fault RIGHT_MISSING, NOT_FOUND */
function loadLocked(ctx: WriteContext, id: string): Promise<{ stored: StoredItem; item: Item }> {
  return loadConnection<IntegrationDefinition, CompiledIntegration>(ctx, KIND, id);
}

/**
 * Changes a disabled integration. Absent properties stay unchanged; `config` replaces the stored one as a whole.
 *
 * @throws Fault RIGHT_MISSING, NOT_FOUND, CONNECTION_ARCHIVED, CONNECTION_ENABLED, INVALID_REQUEST
 */
export async function changeIntegration(
  ctx: WriteContext,
  id: string,
  changes: { [K in keyof IntegrationInput]?: IntegrationInput[K] | undefined },
): Promise<IntegrationAnswer> {
  const { stored, item } = await loadLocked(ctx, id);
  const { compiled, definition } = item;
  requirePrincipal(ctx, compiled.executionPrincipalId);
  const executionPrincipalId = changes.executionPrincipalId ?? compiled.executionPrincipalId;
  requirePrincipal(ctx, executionPrincipalId);
  ctx.markAuthorized();
  requireNotArchived(KIND, stored);
  if (compiled.enabled)
    throw new Fault('CONNECTION_ENABLED', 'The integration is enabled. Disable it before you change it.');
  const config = changes.config ?? definition.config;
  const next = await itemOf(ctx, stored.code, false, { executionPrincipalId, config });
  return planChange(ctx, 'change', stored, { id, code: stored.code, state: 'ACTIVE', item: next });
}

/** Enables, disables or archives an integration. Calls of a disabled one are refused. @throws Fault as `switchConnection` */
export async function switchIntegration(
  ctx: WriteContext,
  id: string,
  step: ConnectionStep,
): Promise<IntegrationAnswer> {
  const { state, compiled } = await switchConnection<IntegrationDefinition, CompiledIntegration>(ctx, KIND, id, step);
  return integrationAnswer(id, state, compiled);
}

/**
 * Restores an archived integration, disabled. Its references may be gone, so it is validated like a new one.
 *
 * @throws Fault RIGHT_MISSING, NOT_FOUND, INVALID_REQUEST
 */
export async function restoreIntegration(ctx: WriteContext, id: string): Promise<IntegrationAnswer> {
  const { stored, item } = await loadLocked(ctx, id);
  const { executionPrincipalId } = item.compiled;
  requirePrincipal(ctx, executionPrincipalId);
  ctx.markAuthorized();
  if (isActive(stored)) return integrationAnswer(id, 'ACTIVE', item.compiled);
  const input = { executionPrincipalId, config: item.definition.config };
  const next = await itemOf(ctx, stored.code, false, input);
  return planChange(ctx, 'restore', stored, { id, code: stored.code, state: 'ACTIVE', item: next });
}

// ---------------------------------------------------------------- names in calls
//
// Calls refer to users and types by id, configuration items by login and code. Both are compiled by the same function, so an
// integration created by a call equals one created by a bundle, and is exported like it.

export interface Names {
  /** Login of the user, who must be active. */
  login: string | undefined;
  /** The code of an active type, given its id or code. */
  typeCode(idOrCode: string): string | undefined;
  view: CompileView;
}

/**
 * Loads the names that a call may use. Types and fields are those that the caller may read or write. Callers with `role.assign`
 * or `config.manage` may use all. Call it under the lock of the configuration.
 */
export async function loadNames(ctx: ReadContext, principalId: string | null): Promise<Names> {
  const { actor } = ctx;
  const all = actor.has('role.assign') || actor.has('config.manage');
  const ids = new Map<string, string>();
  const shapes = new Map<string, TypeShape>();
  for (const { id, code, definition } of (await loadItems(ctx, 'types')).filter(isActive)) {
    if (!all && !actor.mayEver(id, 'read') && !actor.mayEver(id, 'create')) continue;
    const shape = definition as TypeShape;
    const known = (field: string): boolean => all || canName(actor.fieldAccess(id), field);
    ids.set(id, code);
    shapes.set(code, { ...shape, fields: shape.fields.filter((field) => known(field.code)) });
  }
  const user = principalId === null ? undefined : await whoIs(ctx, principalId);
  const login = isActive(user) ? user.login : undefined;
  const idOf = (section: string, code: string): string | undefined => {
    if (section === 'users') return code === login ? user?.id : undefined;
    return section === 'types' ? [...ids].find(([, known]) => known === code)?.[0] : undefined;
  };
  const none: ReadonlyMap<string, never> = new Map<string, never>();
  const view: CompileView = {
    has: (section, code) => idOf(section, code) !== undefined,
    get: <Definition>(section: string, code: string) =>
      (section === 'types' ? shapes.get(code) : undefined) as Definition | undefined,
    active: <Definition>(section: string) =>
      (section === 'types' ? shapes : none) as unknown as ReadonlyMap<string, Definition>,
    archived: () => none,
    stored: () => undefined,
    versions: () => [],
    id: (section, code) => {
      const id = idOf(section, code);
      if (id === undefined) throw new Error(`no id was asked for first: ${section} ${code}`);
      return id;
    },
    nested: () => {
      throw new Error('an integration has no parts with ids');
    },
  };
  return { login, typeCode: (idOrCode) => ids.get(idOrCode) ?? (shapes.has(idOrCode) ? idOrCode : undefined), view };
}
