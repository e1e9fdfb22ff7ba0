/** Makes the incidents happen: entered by the integration, moved by transitions, each at its recorded time. */
import { type Change, type Incident, type Moment, STATES } from './plan.ts';
import type { Service } from './service.ts';

export interface Instance {
  id: string;
  policyCode: string;
  status: string;
  startedAt: string;
  stoppedAt?: string;
  dueAt: string | null;
  targetMs: number;
  elapsedMs: number;
  breached: boolean;
  breachedAt?: string;
}

/** What the client knows of a record. */
interface Known {
  id: string;
  revision: number;
  stateId: string;
}

const AT_ONCE = 8;

export class Replay {
  readonly #service: Service;
  readonly #known = new Map<Incident, Known>();
  /** Code of a state → its id; code of a transition → its id. */
  readonly #ids = new Map<string, string>();
  calls = 0;

  constructor(service: Service) {
    this.#service = service;
  }

  /** @throws Error when the answer is no success */
  async ask(method: string, path: string, body?: unknown, admin = false): Promise<any> {
    this.calls++;
    const { url, key, adminKey } = this.#service;
    const response = await fetch(`${url}/api/${admin ? 'admin/v1' : 'v1'}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${admin ? adminKey : key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return JSON.parse(text).data;
  }

  idOf(incident: Incident): string {
    return this.#of(incident).id;
  }

  async run(moments: readonly Moment[], progress: (done: number) => void): Promise<void> {
    for (const [index, { at, happenings }] of moments.entries()) {
      await this.#service.moveTo(at);
      const waiting = [...happenings];
      const work = async (): Promise<void> => {
        for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
          const [incident, changes] = next;
          for (const change of changes) {
            if (change === undefined) await this.#open(incident);
            else await this.#change(incident, change);
          }
        }
      };
      await Promise.all(Array.from({ length: Math.min(AT_ONCE, waiting.length) }, work));
      progress(index + 1);
    }
  }

  async sla(incident: Incident): Promise<Instance[]> {
    return await this.ask('GET', `/objects/${this.idOf(incident)}/sla`);
  }

  #of(incident: Incident): Known {
    const known = this.#known.get(incident);
    if (known === undefined) throw new Error(`${incident.number} was not opened`);
    return known;
  }

  async #open(incident: Incident): Promise<void> {
    const { number, opened } = incident;
    const made = await this.ask('POST', `/inbound/${this.#service.integrationId}`, {
      incident: {
        number,
        priority: opened.priority,
        category: opened.category,
        caller: opened.caller,
        assignment: { group: opened.team },
      },
    });
    if (this.#ids.size === 0) await this.#learn(made.id);
    this.#known.set(incident, { id: made.id, revision: made.revision, stateId: this.#id('new') });
  }

  /** Every transition leaves every state, so that one record's workflow names all there are. */
  async #learn(id: string): Promise<void> {
    const { state, transitions } = await this.ask('GET', `/objects/${id}/workflow`);
    this.#ids.set(state.code, state.id);
    for (const { id: transitionId, code, to } of transitions) {
      this.#ids.set(code, transitionId);
      this.#ids.set(to.code, to.id);
    }
  }

  #id(code: string): string {
    const id = this.#ids.get(code);
    if (id === undefined) throw new Error(`nothing is called ${code}`);
    return id;
  }

  async #change(incident: Incident, { state, priority }: Change): Promise<void> {
    const known = this.#of(incident);
    const values = priority === undefined ? {} : { priority };
    if (state === undefined) {
      const body = { expectedRevision: known.revision, changes: values };
      known.revision = (await this.ask('PATCH', `/objects/${known.id}`, body)).revision;
      return;
    }
    const transition = [...STATES.values()].find((one) => one.code === state)?.transition ?? '';
    const { object } = await this.ask('POST', `/objects/${known.id}/transitions`, {
      transitionId: this.#id(transition),
      expectedRevision: known.revision,
      expectedStateId: known.stateId,
      values,
    });
    known.revision = object.revision;
    known.stateId = this.#id(state);
  }
}
