/**
 * Runs the rules on the events of a unit of work, inside it: what a rule does is committed with the change that fired it or not
 * at all. All channels are covered, because all of them run units of work.
 *
 * Events are taken in the order in which they were made, those that rules cause behind those of the command. Rules on one event
 * run in their order (`inOrder`). Each judges the record as the event left it, whatever was done since, and acts on the record as
 * it is. So what rules do does not depend on their codes, if their order is written. A rule fires at most once for a record in one
 * unit.
 */
import { EVENTS, type EventType, isAbout, type RuleEvent } from '../../contract/events.ts';
import type { CommentVisibility } from '../../contract/comment-visibility.ts';
import { Fault, isFault } from '../../lib/fault.ts';
import type { Variables } from '../../lib/filter.ts';
import { Yielder } from '../../lib/yielding.ts';
import type {
  Actor,
  ActorOf,
  PlannedEvent,
  Reaction as UnitReaction,
  ReadContext,
  WriteContext,
} from '../../platform/unit-of-work/context.ts';
import { contextOnBehalfOf, writeContextAs } from '../../platform/unit-of-work/unit-context.ts';
import { variables } from '../metadata/index.ts';
import { findVisible, type ObjectRow } from '../objects/index.ts';
import { type Effect, runActions } from './actions.ts';
import { type Image, Images } from './images.ts';
import { type Rule, type RuleIndex, rulesView } from './registry.ts';
import {
  canMatch,
  type EventFacts,
  fires,
  MAX_RULE_DEPTH,
  MAX_FIRINGS,
  type Occasion,
  isAboutComment,
  seenAs,
  withEvent,
} from './rules.ts';
import { insertRun } from './store.ts';
import { armTimers } from './timers.ts';

/** An event, or the moment of a time-based rule, which has the type `Timer`. */
type Occurrence = Pick<PlannedEvent, 'objectId' | 'revision' | 'changes' | 'data' | 'origin'> & { type: string };
export const TIMER = 'Timer';

/** What led to an event. */
interface Cause {
  /** Codes of the rules, the first one first. */
  chain: readonly string[];
  /** Counts the rules that fired because of the same event of the command. */
  count: { fired: number };
}

/** An event with what led to it. */
interface CausedEvent extends Cause {
  event: Occurrence;
}

const FIRED = 'rules:fired';

/** Errors of the service, which no rule caused. */
const NOT_ITS_OWN: ReadonlySet<string> = new Set(['OVERLOADED', 'DATABASE_UNAVAILABLE']);

/**
 * @param onLoop gets the codes of the rules of a chain that is too long, the first one first
 * @returns the reaction that runs the rules
 */
export function ruleReaction(actorOf: ActorOf, onLoop: (rules: readonly string[]) => void): UnitReaction {
  return {
    name: 'rules',
    follow: async (ctx, events, followed) => {
      const index = ctx.config.get(rulesView);
      try {
        await runRules(ctx, index, { events, followed }, actorOf);
      } catch (error) {
        if (error instanceof RuleLoop) onLoop(error.rules);
        throw error;
      }
      if (index.timed.size > 0) await armTimers(ctx, index.timed, ctx.events);
    },
  };
}

/**
 * Runs the rules on the events. If rules react to SLA events, the followers that emit events follow the changes at once, and the
 * rules run on the events of these, until there are no more.
 *
 * @throws Fault RULE_LOOP, RULE_REFUSED
 */
async function runRules(
  ctx: WriteContext,
  index: RuleIndex,
  { events, followed }: { events: readonly PlannedEvent[]; followed: () => Promise<void> },
  actorOf: ActorOf,
): Promise<void> {
  if (index.events.size === 0) return;
  const reaction = new Reaction(ctx, index, actorOf);
  await reaction.run(events);
  while (index.hasSla) {
    const seen = ctx.events.length;
    await followed();
    if (ctx.events.length === seen) return;
    await reaction.run(ctx.events.slice(seen));
  }
}

/**
 * Runs one rule as if the event had happened to the record and had set all its values, or its time had come. The reaction of the
 * unit goes on with what the rule does.
 *
 * @returns whether the rule fired
 */
export async function fireRule(
  ctx: WriteContext,
  rule: Rule,
  { row, event }: { row: ObjectRow; event?: RuleEvent },
  actorOf: ActorOf,
): Promise<boolean> {
  const type: string = event ?? TIMER;
  const changes = Object.fromEntries(
    Object.entries(row.values).map(([code, value]): [string, [unknown, unknown]] => [code, [null, value]]),
  );
  const byType = new Map([[row.typeId, new Map([[type, [rule]]])]]);
  const reaction = new Reaction(ctx, { events: new Set([type]), byType }, actorOf);
  // Without a revision it counts as an event that does not change the record, so nothing is compared with the record before it.
  await reaction.run([{ type, objectId: row.id, changes }]);
  return reaction.hasFired;
}

/** Whether the error is one of a rule, and not one of the service. */
export function isFailureOfRule(fault: Fault): boolean {
  return !NOT_ITS_OWN.has(fault.code);
}

/** Notes that a time-based rule could not be carried out. */
export function noteFailure(ctx: WriteContext, rule: Rule, objectId: string, error: Fault): void {
  planRun(ctx, rule, { objectId, eventType: TIMER, chain: [], effects: [], error, durationMs: 0 });
}

interface Run {
  objectId: string;
  eventType: string;
  chain: readonly string[];
  effects: readonly Effect[];
  error: Fault | undefined;
  durationMs: number;
}

function planRun(ctx: WriteContext, rule: Rule, run: Run): void {
  const { objectId, error } = run;
  const outcome = error === undefined ? 'DONE' : 'FAILED';
  ctx.noteReaction({ objectId, code: rule.code, outcome });
  ctx.plan(insertRun, {
    id: ctx.newId(),
    ruleId: rule.id,
    objectId,
    at: ctx.now,
    eventType: run.eventType,
    chain: run.chain,
    outcome,
    effects: run.effects,
    error: error === undefined ? null : { code: error.code, message: error.message },
    durationMs: Math.round(run.durationMs),
    correlationId: ctx.correlationId,
  });
}

class Reaction {
  readonly #ctx: WriteContext;
  readonly #index: Pick<RuleIndex, 'events' | 'byType'>;
  readonly #actorOf: ActorOf;
  /** Events that are not taken yet, and those that rules make meanwhile. */
  #queue: CausedEvent[] = [];
  readonly #images: Images;
  /** Record → what led to its last change. */
  readonly #causes = new Map<string, Cause>();
  /** A call can fire 100 rules with 20 actions each; other requests run in between. */
  readonly yielder = new Yielder();
  /** Rules with the records on which they fired in the unit. */
  readonly #fired: Set<string>;
  readonly #variables: Variables;

  constructor(ctx: WriteContext, index: Pick<RuleIndex, 'events' | 'byType'>, actorOf: ActorOf) {
    this.#ctx = ctx;
    this.#index = index;
    this.#actorOf = actorOf;
    this.#images = new Images(ctx);
    this.#fired = (ctx.memo.get(FIRED) as Set<string> | undefined) ?? new Set();
    ctx.memo.set(FIRED, this.#fired);
    this.#variables = variables(ctx);
  }

  /** Runs the rules on the events, then those on the events that they cause. */
  async run(events: readonly Occurrence[]): Promise<void> {
    for (const event of events) this.#add(event, this.#causeOf(event));
    // The queue grows while it is read.
    for (const taken of this.#queue) {
      await this.yielder.next();
      await this.#take(taken);
    }
    this.#queue = [];
  }

  get hasFired(): boolean {
    return this.#fired.size > 0;
  }

  #add(event: Occurrence, { chain, count }: Cause): void {
    this.#queue.push({ event, chain, count });
    this.#images.add(event);
  }

  /** An SLA event is caused by the last change of its record. */
  #causeOf({ type, objectId, origin, data }: Occurrence): Cause {
    const cause = concerns(type, 'sla') && objectId !== undefined ? this.#causes.get(objectId) : undefined;
    // The event of a rule that was run alone.
    const rule = origin === undefined ? undefined : data?.['rule'];
    return cause ?? { chain: typeof rule === 'string' ? [rule] : [], count: { fired: 0 } };
  }

  async #take(taken: CausedEvent): Promise<void> {
    const { event } = taken;
    const { objectId, type, revision } = event;
    if (objectId === undefined) return;
    if (revision !== undefined) this.#causes.set(objectId, taken);
    const image = await this.#images.pass(event, this.#index.events.has(type));
    const rules = image === undefined ? undefined : this.#index.byType.get(image.after.type.id)?.get(type);
    if (image === undefined || rules === undefined) return;
    const occasion = this.#occasion(event, image);
    for (const rule of rules) {
      const key = `${rule.id} ${objectId}`;
      if (this.#fired.has(key) || !canMatch(rule, occasion, this.#variables)) continue;
      const actor = await this.#actorOf(rule.runAsId);
      if (actor === undefined || !(await this.#fires(rule, event, occasion, actor))) continue;
      this.#fired.add(key);
      await this.#fire(rule, taken, actor);
    }
  }

  #occasion(event: Occurrence, { after, before }: Image): Occasion {
    const facts = eventFacts(this.#ctx, event);
    return {
      event: facts,
      after: withEvent(after.facts, facts),
      before: event.type === 'ObjectCreated' ? null : event.revision === undefined ? undefined : () => before().facts,
      titleField: after.version.titleField,
    };
  }

  async #fires(rule: Rule, { data }: Occurrence, occasion: Occasion, actor: Actor): Promise<boolean> {
    const own = contextOnBehalfOf(this.#ctx, actor);
    const { typeId } = occasion.after.system;
    if (!fires(rule, occasion, variables(own), actor.on(typeId, occasion.after, own.now))) return false;
    // A relation is hidden from those who may not read its other end.
    const target = data?.['targetObjectId'];
    return typeof target !== 'string' || (await findVisible(own, target)) !== undefined;
  }

  /** @throws Fault RULE_LOOP, RULE_REFUSED */
  async #fire(rule: Rule, { event, chain, count }: CausedEvent, actor: Actor): Promise<void> {
    const rules = [...chain, rule.code];
    if (rules.length > MAX_RULE_DEPTH || ++count.fired > MAX_FIRINGS) throw new RuleLoop(rules);
    const objectId = event.objectId as string;
    const made: PlannedEvent[] = [];
    const deputy = {
      actor,
      via: 'rule' as const,
      data: { rule: rule.code },
      onEmit: (one: PlannedEvent) => made.push(one),
    };
    const own = writeContextAs(this.#ctx, deputy);
    const startedMs = performance.now();
    let effects: Effect[] = [];
    let error: Fault | undefined;
    try {
      effects = await this.#ctx.attempt(() => runActions(own, rule, { objectId, yielder: this.yielder }));
      for (const one of made) this.#add(one, { chain: rules, count });
    } catch (thrown) {
      if (!isFault(thrown) || !isFailureOfRule(thrown)) throw thrown;
      // A warning or breach is not a change by a user, so it cannot be refused.
      const isTimer = this.#ctx.via === 'system' && event.type.startsWith('Sla');
      if (rule.onError === 'refuse' && !isTimer) throw refused(rule, thrown);
      error = thrown;
    }
    const durationMs = performance.now() - startedMs;
    planRun(this.#ctx, rule, { objectId, eventType: event.type, chain, effects, error, durationMs });
  }
}

function eventFacts(ctx: ReadContext, { type, data, origin, changes }: Occurrence): EventFacts {
  const { visibility = null } = (data ?? {}) as { visibility?: CommentVisibility };
  return {
    type,
    via: origin?.via ?? ctx.via,
    actor: (origin?.actor ?? ctx.actor).userId,
    commentVisibility: isAboutComment(type) ? visibility : null,
    seenAs: seenAs(visibility, data?.['commentId']),
    changed: Object.keys(changes ?? {}),
  };
}

function concerns(type: string, subject: Parameters<typeof isAbout>[1]): boolean {
  return Object.hasOwn(EVENTS, type) && isAbout(type as EventType, subject);
}

class RuleLoop extends Fault {
  readonly rules: readonly string[];

  constructor(rules: readonly string[]) {
    super('RULE_LOOP', 'The change fires too many rules. Ask an administrator to correct one of those in details.', {
      rules,
    });
    this.rules = rules;
  }
}

/** Leaves out the cause, which can contain what only the user of the rule may see. */
function refused(rule: Rule, cause: Fault): Fault {
  return new Fault(
    'RULE_REFUSED',
    `The rule ${rule.code} could not be carried out, so the change was refused. Ask an administrator.`,
    { rule: rule.code },
    { cause },
  );
}
