/**
 * On which records a rule would have fired. The history is read backwards and undone on each record, so that the rule is evaluated
 * on the record as it was at each event. Rights are the current ones.
 */
import { isArchived } from '../../contract/state.ts';
import { fieldsOf } from '../../lib/filter.ts';
import type { Variables } from '../../lib/filter.ts';
import { Yielder } from '../../lib/yielding.ts';
import { limitTime } from '../../platform/database/pool.ts';
import type { Actor, ActorOf, ReadContext, RecordRight } from '../../platform/unit-of-work/context.ts';
import { findType, registry, today } from '../metadata/index.ts';
import {
  eventDecoder,
  type EventFilter,
  findVisible,
  preload,
  readableTitle,
  type RecordView,
  viewBefore,
  type VisibleObject,
} from '../objects/index.ts';
import { BUDGET_MS, MAX_EXAMPLES } from './contract-preview.ts';
import { TIMER } from './reaction.ts';
import { type CompiledRule, type Rule, ruleOf, SINCE_STATE } from './registry.ts';
import { canMatch, type EventFacts, fires, isAboutComment, type Occasion, seenAs, withEvent } from './rules.ts';
import { allOf, eventsOf, partBefore, type PastEvent, type Wanted } from './store-preview.ts';
import { momentOf } from './timers.ts';
import type { CommentVisibility } from '../../contract/comment-visibility.ts';

/** Records that are held in memory at most. */
const MAX_RECORDS = 10_000;
/** Past states of records that are held in memory at most, for a time-based rule. */
const MAX_VIEWS = 10_000;
const DAY_MS = 86_400_000;

export interface PreviewParts {
  actorOf: ActorOf;
  /** Hide events that the caller may not see. */
  filters: readonly EventFilter[];
  /** The compiled form of a rule of a bundle. @throws Fault RIGHT_MISSING, INVALID_REQUEST */
  compile(ctx: ReadContext, item: unknown): Promise<unknown>;
}

export interface Preview {
  from: string;
  to: string;
  complete: boolean;
  limited: boolean;
  records: number;
  firings: number;
  examples: {
    id: string;
    number: string | null;
    title: string | null;
    at: string;
    eventType: string;
    firings: number;
  }[];
}

/** A record while its history is read backwards. */
interface PastRecord {
  object: VisibleObject;
  rule: Rule;
  /** What both the caller and the user of the rule may do. */
  right: RecordRight;
  /** The record as it was after the event that is looked at. */
  view: RecordView;
  /** The last unit of work in which the rule fired. */
  firedIn: string | undefined;
  /** Of a time-based rule: when `since` changed next, and the record after each event until then, newest first. */
  nextSince: string | undefined;
  later: { at: string; view: RecordView }[];
}

/**
 * @throws Fault RIGHT_MISSING, INVALID_REQUEST
 */
export async function previewRule(
  ctx: ReadContext,
  { rule: item, days }: { rule: unknown; days: number },
  parts: PreviewParts,
): Promise<Preview> {
  ctx.actor.require('config.manage');
  const compiled = (await parts.compile(ctx, item)) as CompiledRule;
  // As for changing the rule: what it sees must not tell the caller more than they could obtain.
  if (compiled.runAsId !== ctx.actor.userId) ctx.actor.require('role.assign');
  const actor = compiled.runAsId === null ? undefined : await parts.actorOf(compiled.runAsId);
  const since = new Date(Date.parse(ctx.now) - days * DAY_MS).toISOString();
  const scan = new Scan(ctx, compiled, actor, parts.filters);
  await limitTime(ctx, BUDGET_MS);
  const from = await scan.run(since);
  return { from, to: ctx.now, complete: from === since, ...scan.result };
}

class Scan {
  readonly #ctx: ReadContext;
  readonly #actor: Actor | undefined;
  readonly #filters: readonly EventFilter[];
  /** Type id → the rule for its records. */
  readonly #rules: ReadonlyMap<string, Rule>;
  readonly #on: ReadonlySet<string>;
  readonly #records = new Map<string, PastRecord>();
  readonly #found = new Map<string, Preview['examples'][number]>();
  readonly yielder = new Yielder();
  readonly #began = performance.now();
  #limited = false;
  #views = 0;
  #firings = 0;

  constructor(ctx: ReadContext, compiled: CompiledRule, actor: Actor | undefined, filters: readonly EventFilter[]) {
    this.#ctx = ctx;
    this.#actor = actor;
    this.#filters = filters;
    this.#on = new Set(compiled.on);
    const types = compiled.typeIds.flatMap((id) => findType(registry(ctx), id) ?? []);
    this.#rules = new Map(
      types.flatMap((type): [string, Rule][] => {
        const rule = ruleOf('', compiled, type);
        return rule === undefined ? [] : [[type.id, rule]];
      }),
    );
  }

  get result(): Pick<Preview, 'limited' | 'records' | 'firings' | 'examples'> {
    const latest = [...this.#found.values()].sort((a, b) => Date.parse(b.at) - Date.parse(a.at));
    const examples = latest.slice(0, MAX_EXAMPLES);
    return { limited: this.#limited, records: this.#found.size, firings: this.#firings, examples };
  }

  /** @returns the time down to which the history was read */
  async run(since: string): Promise<string> {
    const visible = this.#visible();
    if (visible === null) return since;
    const wanted = { typeIds: [...this.#rules.keys()], events: [...this.#on], visible };
    let place: string | undefined;
    let reached = this.#ctx.now;
    const hasRoom = (): boolean => this.#records.size < MAX_RECORDS && this.#views < MAX_VIEWS;
    while (performance.now() - this.#began < BUDGET_MS && hasRoom()) {
      const part = await partBefore(this.#ctx, place);
      // Clocks of several processes differ a little, and a part is much longer than that.
      if (part === undefined || Date.parse(part.newestAt) < Date.parse(since)) return since;
      const events = await eventsOf(this.#ctx, part, place, wanted);
      await this.#load(events);
      for (const event of events) await this.#take(event, since);
      place = part.first;
      reached = part.oldestAt;
    }
    return Date.parse(reached) <= Date.parse(since) ? since : reached;
  }

  /** Limits `o` to the records that count; null if there are none. */
  #visible(): Wanted['visible'] | null {
    const { actor, now } = this.#ctx;
    const typeIds = [...this.#rules.keys()];
    return allOf([
      actor.visible('o', 'read', now, typeIds),
      actor.visible('o', 'history', now, typeIds),
      this.#actor?.visible('o', 'read', now, typeIds) ?? null,
    ]);
  }

  async #load(events: readonly PastEvent[]): Promise<void> {
    const actor = this.#actor;
    const ids = [...new Set(events.map(({ objectId }) => objectId))].filter((id) => !this.#records.has(id));
    await preload(this.#ctx, ids);
    for (const id of ids) {
      await this.yielder.next();
      const object = await findVisible(this.#ctx, id);
      const rule = object === undefined ? undefined : this.#rules.get(object.type.id);
      if (object === undefined || rule === undefined || actor === undefined) continue;
      const own = actor.on(object.type.id, object.facts, this.#ctx.now);
      this.#limited ||= hides(rule, object, own);
      const view = object;
      this.#records.set(id, {
        object,
        rule,
        right: common(object.right, own),
        view,
        firedIn: undefined,
        nextSince: undefined,
        later: [],
      });
    }
  }

  async #take(stored: PastEvent, since: string): Promise<void> {
    await this.yielder.next();
    const record = this.#records.get(stored.objectId);
    if (record === undefined) return;
    const event = eventDecoder(this.#ctx, stored.typeId)(stored);
    if (record.rule.after !== undefined) this.#takeTimed(record, record.rule.after, event, since);
    const isChange = event.revision !== null;
    const counts = this.#on.has(event.type) && event.via !== 'import' && Date.parse(event.at) >= Date.parse(since);
    if (
      counts &&
      record.firedIn !== event.unit &&
      this.#fires(record, event) &&
      !(await this.#isHidden(record, event))
    ) {
      record.firedIn = event.unit;
      this.#count(record, event);
    }
    if (isChange) record.view = viewBefore(this.#ctx, record.view, [event.changes ?? {}]);
  }

  /** Counts the moment of a time-based rule, if the event arms it. */
  #takeTimed(record: PastRecord, after: NonNullable<Rule['after']>, event: PastEvent, from: string): void {
    const { view, later, nextSince } = record;
    later.push({ at: event.at, view });
    this.#views++;
    if (event.type !== 'ObjectCreated' && !Object.hasOwn(event.changes ?? {}, after.since)) return;
    record.nextSince = event.at;
    record.later = [];
    this.#views -= later.length;
    const start = after.since === SINCE_STATE ? event.at : view.row.values[after.since];
    if (event.via === 'import' || typeof start !== 'string' || Date.parse(event.at) < Date.parse(from)) return;
    const { dueAt } = momentOf(this.#ctx, { after }, start);
    // A moment that is over when it is set is due at once.
    const moment = dueAt === null ? Number.POSITIVE_INFINITY : Math.max(Date.parse(dueAt), Date.parse(event.at));
    if (moment > Date.parse(nextSince ?? this.#ctx.now)) return;
    const then = later.find(({ at }) => Date.parse(at) <= moment)?.view ?? view;
    const at = new Date(moment).toISOString();
    if (!isArchived(then.row) && this.#firesAt(record, then, at)) this.#count(record, { at, type: TIMER });
  }

  #firesAt({ rule, right }: PastRecord, { facts, version }: RecordView, at: string): boolean {
    const event: EventFacts = {
      type: TIMER,
      via: 'system',
      actor: null,
      commentVisibility: null,
      seenAs: null,
      changed: [],
    };
    const after = withEvent(facts, event);
    const occasion: Occasion = { event, after, before: undefined, titleField: version.titleField };
    const variables = this.#variables(at);
    return canMatch(rule, occasion, variables) && fires(rule, occasion, variables, right);
  }

  #fires({ rule, right, view }: PastRecord, event: PastEvent): boolean {
    const visibility = (event.data?.['visibility'] as CommentVisibility | undefined) ?? null;
    const facts: EventFacts = {
      type: event.type,
      via: event.via,
      actor: event.actorId,
      commentVisibility: isAboutComment(event.type) ? visibility : null,
      seenAs: seenAs(visibility, event.data?.['commentId']),
      changed: Object.keys(event.changes ?? {}),
    };
    const before = (): Occasion['after'] => viewBefore(this.#ctx, view, [event.changes ?? {}]).facts;
    const occasion: Occasion = {
      event: facts,
      after: withEvent(view.facts, facts),
      before: event.type === 'ObjectCreated' ? null : event.revision === null ? undefined : before,
      titleField: view.version.titleField,
    };
    const variables = this.#variables(event.at);
    return canMatch(rule, occasion, variables) && fires(rule, occasion, variables, right);
  }

  #variables(at: string): Variables {
    const of = this.#actor?.variables ?? this.#ctx.actor.variables;
    return { ...of, now: at, today: today(registry(this.#ctx), at) };
  }

  async #isHidden({ object }: PastRecord, event: PastEvent): Promise<boolean> {
    if (event.revision !== null) return false;
    for (const filter of this.#filters) if ((await filter(this.#ctx, object, [event])).has(event.id)) return true;
    return false;
  }

  #count({ object }: PastRecord, { at, type }: Pick<PastEvent, 'at' | 'type'>): void {
    const { id, number } = object.row;
    const known = this.#found.get(id);
    this.#firings++;
    if (known !== undefined) known.firings++;
    else this.#found.set(id, { id, number, title: readableTitle(object), at, eventType: type, firings: 1 });
  }
}

function common(one: RecordRight, other: RecordRight): RecordRight {
  return {
    can: (action) => one.can(action) && other.can(action),
    canRead: (code) => one.canRead(code) && other.canRead(code),
    canWrite: (code) => one.canWrite(code) && other.canWrite(code),
    canTransition: (code) => one.canTransition(code) && other.canTransition(code),
  };
}

/** Whether the rule names a field that its user may read on the record, and the caller may not. */
function hides({ when, after }: Rule, { version, right }: VisibleObject, own: RecordRight): boolean {
  const named = when === null ? [] : fieldsOf(when);
  const codes = named.flatMap(({ code, kind }) =>
    kind === 'value' ? [code] : code === 'title' && version.titleField !== null ? [version.titleField] : [],
  );
  if (after !== undefined && after.since !== SINCE_STATE) codes.push(after.since);
  return codes.some((code) => own.canRead(code) && !right.canRead(code));
}
