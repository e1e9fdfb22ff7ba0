/**
 * A subscription as a configuration item, and its translation from API requests. Requests refer to users and types by id, items
 * by login and code. Bundles and API calls use the same functions to validate, compile and write it, so a subscription created
 * by the API equals one from a bundle and can be exported (docs/spec/configuration.md).
 */
import { isActive } from '../../contract/state.ts';
import Type, { type Static } from 'typebox';
import { closed, Code, described, Login, oneOf, optional } from '../../contract/schemas.ts';
import { CodeOf, ConditionSchema, enabled } from '../../configuration/schemas.ts';
import type { Change, CompileView, Report } from '../../configuration/section.ts';
import { planItem } from '../../configuration/store.ts';
import { compileSharedCondition, compileTypedCondition, type TypeShape } from '../../configuration/record-types.ts';
import type { WriteContext, ReadContext } from '../../platform/unit-of-work/context.ts';
import { type CompiledWebhook, type WebhookDefinition, endpointProblem } from './rules.ts';
import { WEBHOOK_EVENTS } from '../../contract/events.ts';
import { closePeriod, openPeriod, findNames } from './store.ts';
import { type Condition, type FieldResolver, resolverOf } from '../../lib/filter.ts';
import { sectionOf } from '../../lib/data-types/index.ts';
import { isId } from '../../lib/ids.ts';
import { problem } from '../../lib/problem.ts';
import { findType, registry } from '../metadata/index.ts';
import { isObject } from '../../lib/json.ts';

export const WebhookItem = closed({
  code: Code,
  endpoint: described(
    'HTTPS address that gets the deliveries, without user, query and fragment. It must be a public address.',
    Type.String({ minLength: 1, maxLength: 2048 }),
  ),
  secretRef: described(
    'Code of the secret that signs the deliveries. Its value is stored apart from the bundle.',
    CodeOf('signingSecrets'),
  ),
  executionPrincipal: described(
    'Login of the user with whose rights records are read: a delivery contains only what this user may read.',
    Login,
  ),
  eventTypes: described(
    'Kinds of events that are delivered. An empty list: only messages that rules post.',
    Type.Array(oneOf(WEBHOOK_EVENTS), { uniqueItems: true }),
  ),
  filters: optional(
    'Limits the deliveries to some events.',
    closed(
      {
        types: optional(
          'Codes of record types; events of other types create no delivery. Absent or empty: all types.',
          Type.Array(CodeOf('types'), { maxItems: 1000, uniqueItems: true }),
        ),
        condition: optional(
          'The record must meet this condition when the delivery is sent; otherwise the delivery is skipped.',
          ConditionSchema,
        ),
      },
      { typesAt: 'types' },
    ),
  ),
  retryPolicy: optional(
    'What happens after HTTP 429, 5xx and connection errors.',
    closed({
      maxAttempts: optional(
        'Number of attempts in all, 1 to 10; then the delivery has failed. Default: 3.',
        Type.Integer({ minimum: 1, maximum: 10 }),
      ),
      baseDelayMs: optional(
        'Milliseconds before the second attempt; doubled after each further one, up to 1 hour. Default: 1000.',
        Type.Integer({ minimum: 1, maximum: 3_600_000 }),
      ),
    }),
  ),
  enabled: enabled(true),
});

export type Item = Static<typeof WebhookItem>;

/** The item with every default filled in. */
export function normalise(item: Item): WebhookDefinition {
  const { types = [], condition } = item.filters ?? {};
  return {
    code: item.code,
    endpoint: item.endpoint,
    secretRef: item.secretRef,
    executionPrincipal: item.executionPrincipal,
    eventTypes: item.eventTypes,
    filters: { types, ...(condition === undefined ? {} : { condition: condition as never }) },
    retryPolicy: {
      maxAttempts: item.retryPolicy?.maxAttempts ?? 3,
      baseDelayMs: item.retryPolicy?.baseDelayMs ?? 1000,
    },
    enabled: item.enabled ?? true,
  };
}

/** @param refused URLs to which calls would be refused by their addresses, with the reasons */
export function checkAddress(endpoint: string, refused: ReadonlyMap<string, string>, report: Report): void {
  const reason = refused.get(endpoint);
  if (reason !== undefined) report(['endpoint'], problem('ADDRESS_NOT_PUBLIC'));
}

function checkEndpoint(endpoint: string, report: Report): void {
  const found = endpointProblem(endpoint);
  if (found !== undefined) report(['endpoint'], found);
}

/** Validates the definition and replaces logins and codes by ids. */
export function compile(webhook: WebhookDefinition, view: CompileView, report: Report): CompiledWebhook {
  checkEndpoint(webhook.endpoint, report);
  const { types, condition } = webhook.filters;
  const principal = webhook.executionPrincipal;
  const executionPrincipalId = view.has('users', principal) ? view.id('users', principal) : null;
  if (condition === undefined) return { ...webhook, executionPrincipalId };
  const shapes =
    types.length === 0
      ? [...view.active<TypeShape>('types').values()]
      : types.flatMap((code) => view.get<TypeShape>('types', code) ?? []);
  const compileOn = types.length === 1 ? compileTypedCondition : compileSharedCondition;
  const compiled = compileOn(condition, ['filters', 'condition'], shapes, { view, report });
  return {
    ...webhook,
    filters: { types, ...(compiled === undefined ? {} : { condition: compiled }) },
    executionPrincipalId,
  };
}

/**
 * Writes the item and the period in which it takes events. A change of an enabled subscription ends the current period and
 * starts the next at the same position in the journal: it is disabled, changed and enabled in one transaction.
 */
export function write(ctx: WriteContext, change: Change): void {
  planItem(ctx, change);
  const { enabled, eventTypes, filters, retryPolicy } = change.definition as WebhookDefinition;
  if (change.stored !== undefined) ctx.plan(closePeriod, { subscriptionId: change.id, at: ctx.now });
  if (isActive(change) && enabled) {
    ctx.plan(openPeriod, {
      id: ctx.newId(),
      subscriptionId: change.id,
      fromAt: ctx.now,
      eventTypes,
      types: filters.types,
      maxAttempts: retryPolicy.maxAttempts,
      baseDelayMs: retryPolicy.baseDelayMs,
    });
  }
}

export interface Names {
  /** The code or login of an id in a section; undefined for an unknown id. */
  code(section: string, id: string): string | undefined;
  /** Whether the user, group or unit of the section is active. */
  active(section: string, id: string): boolean;
  view: CompileView;
}

function idsIn(value: unknown, found: Set<string>): Set<string> {
  if (typeof value === 'string') {
    if (isId(value)) found.add(value);
  } else if (typeof value === 'object' && value !== null) {
    for (const part of Object.values(value)) idsIn(part, found);
  }
  return found;
}

/** Types and fields that the caller may refer to. Callers with `role.assign` or `config.manage` may refer to all. */
function knownTypes(ctx: ReadContext): ReadonlyMap<string, TypeShape> {
  const all = ctx.actor.has('role.assign') || ctx.actor.has('config.manage');
  const shapes = new Map<string, TypeShape>();
  for (const type of registry(ctx).active) {
    if (!all && !ctx.actor.mayEver(type.id, 'read')) continue;
    const { definition } = type.newest;
    const fields = definition.fields.filter(({ code }) => all || ctx.actor.fieldAccess(type.id).canRead(code));
    shapes.set(type.code, { ...definition, fields });
  }
  return shapes;
}

/** Loads the names of all ids in `parts` that could be references, and builds the view for the compiler. */
export async function loadNames(ctx: ReadContext, secretCodes: readonly string[], parts: unknown): Promise<Names> {
  const types = knownTypes(ctx);
  const entries = new Map<string, string>();
  const codes = new Map<string, string>();
  const add = (section: string, id: string, code: string): void => {
    entries.set(`${section} ${code}`, id);
    codes.set(`${section} ${id}`, code);
  };
  for (const code of types.keys()) add('types', findType(registry(ctx), code)?.id ?? '', code);
  for (const { id, code } of ctx.config.items('services').filter(isActive)) add('services', id, code);
  for (const code of secretCodes) entries.set(`signingSecrets ${code}`, '');
  const people = await findNames(ctx, [...idsIn(parts, new Set())]);
  for (const { section, id, code } of people) add(section, id, code);
  const active = new Set(people.flatMap((one) => (one.active ? `${one.section} ${one.id}` : [])));
  const workflows = new Map(ctx.config.items('workflows').map(({ code, compiled }) => [code, compiled]));
  const named = (section: string): ReadonlyMap<string, unknown> => (section === 'types' ? types : workflows);
  const view: CompileView = {
    has: (section, code) => entries.has(`${section} ${code}`),
    get: (section, code) => named(section).get(code) as never,
    active: (section) => named(section) as never,
    archived: () => new Map(),
    stored: () => undefined,
    versions: () => [],
    id: (section, code) => entries.get(`${section} ${code}`) ?? '',
    nested: () => {
      throw new Error('a subscription has no things inside');
    },
  };
  return {
    code: (section, id) => codes.get(`${section} ${id}`),
    active: (section, id) => active.has(`${section} ${id}`),
    view,
  };
}

/** Resolves a field code to the field of the first type that has it. */
function resolverOfTypes(types: readonly TypeShape[]): FieldResolver {
  const fields = types.flatMap((type) => type.fields).reverse();
  return resolverOf(fields.map(({ code, dataType, multiple }) => ({ code, kind: 'value', dataType, multiple })));
}

/** The condition with codes and logins instead of ids. Unknown ids stay unchanged, and the compiler reports them. */
export function withCodes(condition: unknown, names: Names, typeCodes: readonly string[]): Condition {
  const { view } = names;
  const shapes =
    typeCodes.length === 0
      ? [...view.active<TypeShape>('types').values()]
      : typeCodes.flatMap((code) => view.get<TypeShape>('types', code) ?? []);
  const resolve = resolverOfTypes(shapes);
  const walk = (part: unknown, depth: number): unknown => {
    if (!isObject(part) || depth > 64) return part;
    const { conditions, field: code, value } = part;
    if (Array.isArray(conditions)) {
      return { ...part, conditions: conditions.map((inner) => walk(inner, depth + 1)) };
    }
    const field = typeof code === 'string' ? resolve(code) : undefined;
    if (field === undefined) return part;
    const section = field.kind === 'system' && field.code === 'typeId' ? 'types' : sectionOf(field.dataType);
    if (section === undefined) return part;
    const named = (one: unknown): unknown => (typeof one === 'string' ? (names.code(section, one) ?? one) : one);
    return { ...part, value: Array.isArray(value) ? value.map(named) : named(value) };
  };
  return walk(condition, 1) as Condition;
}
