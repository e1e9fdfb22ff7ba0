/** Runs random calls against a service and judges each answer by the reference model. */
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { startTestApp, type TestAnswer, type TestApp } from '../support/app.ts';
import { idOf, stored } from '../support/small-configuration.ts';
import { type Call, type Ids, requestOf } from './calls.ts';
import { Dice, randomCall } from './generate.ts';
import { judge, type Step, stepsOf } from './reference.ts';
import { emptyState, type Installation, type State } from './state.ts';
import { CALLERS, type Caller, DEFINITIONS, TRANSITIONS, WORLD } from './world.ts';

/** Two calls of one moment in so many of a hundred steps. */
const PAIRS_PERCENT = 35;
/** The clock goes on in so many of a hundred steps, by at most so much. */
const CLOCK_PERCENT = 15;
const MAX_CLOCK_MS = 40 * 60_000;
/** A service that gives way under load did not begin the call. */
const OVERLOADED = 503;

class HandClock {
  ms = Date.parse('2026-03-02T08:00:00.000Z');
  now = (): number => this.ms;
}

export interface ModelWorld {
  app: TestApp;
  keys: Record<Caller, string>;
  clock: HandClock;
  installation: Installation;
  runs: number;
  /** How many steps were made, of all runs. */
  steps: number;
  pairs: number;
}

export async function startModelWorld(): Promise<ModelWorld> {
  const clock = new HandClock();
  const app = await startTestApp({ bundle: WORLD, clock });
  const keys = {} as Record<Caller, string>;
  for (const login of CALLERS) keys[login] = (await app.createKey({ login, scopes: ['all', 'admin:manage'] })).key;
  const nested = await stored<{ code: string; id: string }>(app, 'SELECT code, id FROM config_ids');
  const byCode = (codes: readonly string[]): Record<string, string> =>
    Object.fromEntries(codes.map((code) => [code, nested.find((one) => one.code === code)?.id ?? '']));
  const definitions: Record<string, string> = {};
  for (const { code } of DEFINITIONS) definitions[code] = await idOf(app, 'config_items', code);
  const people = {} as Record<Caller, string>;
  for (const login of CALLERS) people[login] = await idOf(app, 'users', login);
  const installation: Installation = {
    people,
    keepers: await idOf(app, 'groups', 'keepers'),
    transitions: byCode(TRANSITIONS.map(({ code }) => code)),
    states: byCode(['new', 'work', 'wait', 'done']) as Installation['states'],
    definitions,
  };
  return { app, keys, clock, installation, runs: 0, steps: 0, pairs: 0 };
}

/** What is wrong, with the calls that led to it. */
export class Disagreement extends Error {}

/**
 * Makes a run of random calls on records of its own.
 *
 * @param seeds one for each step; leaving some out gives a shorter run of the same kind
 * @throws Disagreement if an answer, or no order of two answers of one moment, is that of the model
 */
export async function runModel(world: ModelWorld, seeds: readonly number[]): Promise<void> {
  world.clock.ms += 60_000;
  const run = new Run(world, `r${++world.runs}`);
  try {
    await run.all(seeds);
  } finally {
    await run.leave();
  }
}

class Run {
  readonly #world: ModelWorld;
  readonly #name: string;
  /** The states that are possible after the answers so far. */
  #states: State[];
  readonly #sla = new Map<string, string>();
  /** Ids of memberships in units. */
  readonly #places = new Set<string>();
  readonly #log: string[] = [];

  constructor(world: ModelWorld, name: string) {
    this.#world = world;
    this.#name = name;
    this.#states = [emptyState(world.clock.now(), world.installation)];
  }

  async all(seeds: readonly number[]): Promise<void> {
    for (const seed of seeds) await this.#step(new Dice(seed, this.#world.runs));
    const [state] = this.#states;
    for (const objectId of state?.records.keys() ?? [])
      for (const kind of ['read', 'history', 'comments', 'relations', 'sla'] as const)
        await this.#one({ who: 'chief', op: { kind, objectId } });
  }

  /** Removes the memberships of the callers and of the group with a role, which all runs share. */
  async leave(): Promise<void> {
    const { app, keys } = this.#world;
    const end = async (path: string): Promise<void> => {
      await app.request('DELETE', `/api/admin/v1/identity${path}`, { key: keys.chief });
    };
    for (const { id } of this.#states[0]?.members.values() ?? []) await end(`/group-memberships/${id}`);
    for (const id of this.#places) await end(`/org-memberships/${id}`);
  }

  async #step(dice: Dice): Promise<void> {
    this.#world.steps++;
    if (dice.chance(CLOCK_PERCENT)) this.#tick(dice.below(MAX_CLOCK_MS));
    const isPair = dice.chance(PAIRS_PERCENT);
    const state = this.#states[0] as State;
    const first = randomCall(dice, state, this.#name);
    const second = isPair ? randomCall(dice, state, this.#name) : undefined;
    const calls = [first, second].filter((call) => call !== undefined);
    for (const { op } of calls)
      if (op.kind === 'sla-command') await this.#one({ who: 'chief', op: { kind: 'sla', objectId: op.objectId } });
    const [one, other] = calls;
    if (one === undefined) return;
    if (other === undefined) return await this.#one(one);
    this.#world.pairs++;
    await this.#pair(one, other);
  }

  #tick(ms: number): void {
    this.#world.clock.ms += ms;
    this.#states = this.#states.map((state) => ({ ...state, now: this.#world.clock.now() }));
  }

  async #one(call: Call): Promise<void> {
    const answer = await this.#send(call);
    this.#note(call, answer);
    if (call.op.kind === 'sla' && answer.status === 200) {
      const id = answer.body.data.at(-1)?.id as string | undefined;
      if (id !== undefined) this.#sla.set(call.op.objectId, id);
    }
    this.#accept([stepsOf(call, answer)]);
  }

  /** Two calls at one moment: some order of their steps must give both answers. */
  async #pair(one: Call, other: Call): Promise<void> {
    const [first, second] = await Promise.all([this.#send(one), this.#send(other)]);
    this.#log.push('at one moment:');
    this.#note(one, first);
    this.#note(other, second);
    this.#accept(mergesOf(stepsOf(one, first), stepsOf(other, second)));
  }

  /** Keeps the states that some order of the steps leads to. */
  #accept(orders: readonly (readonly Step[])[]): void {
    const possible: State[] = [];
    const mismatches = new Set<string>();
    for (const start of this.#states)
      for (const order of orders) {
        let state = start;
        const mismatch = order.reduce<string | undefined>((wrong, step) => {
          if (wrong !== undefined) return wrong;
          const judged = judge(state, step, this.#world.installation);
          if ('mismatch' in judged) return `${step.call.op.kind}: ${judged.mismatch}`;
          ({ state } = judged);
          return undefined;
        }, undefined);
        if (mismatch !== undefined) mismatches.add(mismatch);
        else if (!possible.some((known) => isDeepStrictEqual(known, state))) possible.push(state);
      }
    if (possible.length === 0)
      throw new Disagreement(`${[...mismatches].join('\n or ')}\n${this.#log.slice(-40).join('\n')}`);
    this.#states = possible;
  }

  async #send({ who, op, idempotencyKey }: Call): Promise<TestAnswer> {
    const { app, keys, installation } = this.#world;
    const ids: Ids = {
      transition: (code) => installation.transitions[code] ?? '',
      state: (code) => installation.states[code as keyof typeof installation.states],
      definition: (code) => installation.definitions[code] ?? '',
      sla: (objectId) => this.#sla.get(objectId) ?? '',
    };
    const { method, path, body } = requestOf(op, ids);
    const extra = idempotencyKey === undefined ? {} : { idempotencyKey };
    for (;;) {
      const answer = await app.request(method, path, {
        key: keys[who],
        ...(body === undefined ? {} : { body }),
        ...extra,
      });
      if (answer.status !== OVERLOADED) return answer;
    }
  }

  #note({ who, op, idempotencyKey }: Call, { status, body }: TestAnswer): void {
    const key = idempotencyKey === undefined ? '' : ` key ${idempotencyKey}`;
    const told = JSON.stringify(body.error ?? body.data).slice(0, 600);
    if (op.kind === 'place' && body.data !== undefined) this.#places.add(body.data.id);
    this.#log.push(`  ${who}${key}: ${JSON.stringify(op)}\n    ${status} ${told}`);
  }
}

/** Every way to merge two sequences that keeps the order of each. */
function mergesOf(one: readonly Step[], other: readonly Step[]): Step[][] {
  const [first, ...rest] = one;
  const [second, ...others] = other;
  if (first === undefined) return [[...other]];
  if (second === undefined) return [[...one]];
  return [
    ...mergesOf(rest, other).map((merged) => [first, ...merged]),
    ...mergesOf(one, others).map((merged) => [second, ...merged]),
  ];
}

/** Steps of one run at most. Its records fit into one page of a list. */
const MAX_STEPS = 120;

/**
 * Makes random runs until so many steps are made.
 *
 * @param options `seed` repeats the runs of an earlier call; `progress` is called after some runs
 * @throws an error that shows the shortest run found that disagrees, and the seed
 */
export async function checkModel(
  world: ModelWorld,
  { steps, seed, progress }: { steps: number; seed?: number; progress?: () => void },
): Promise<void> {
  const run = fc.array(fc.noShrink(fc.noBias(fc.nat())), { minLength: 1, maxLength: MAX_STEPS, size: 'max' });
  const property = fc.asyncProperty(run, (seeds) => runModel(world, seeds));
  for (let round = 0; world.steps < steps; round++) {
    const given = seed === undefined ? {} : { seed: seed + round };
    await fc.assert(property, { numRuns: 10, ...given });
    progress?.();
  }
}
