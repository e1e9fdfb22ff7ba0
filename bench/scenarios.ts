/** The measured work: for each scenario, the request to the service and the one to the bare server that does the same. */
import { randomUUID } from 'node:crypto';
import { dice, PRIORITIES, type Sample, samples, TAGS, VISIBLE_AREAS } from './corpus.ts';
import type { Facts } from './records.ts';

export type Subject = 'docket' | 'bare';
export const SUBJECTS: readonly Subject[] = ['docket', 'bare'];

/** What a stand (one database with its service and bare server) is to the load. */
export interface Target {
  ports: Record<Subject, number>;
  key: string;
  facts: Facts;
  /** Ids of readable records, all of revision 1. */
  ids: string[];
}

/** One request under way and what is to be noted of its answer. */
export interface Prepared {
  text: string;
  status: number;
  /** Called when the answer came with that status. */
  done?: () => void;
}

export interface Scenario {
  name: string;
  says: string;
  /** Makes the requests of one connection; called once a run, so that a request itself costs the client little. */
  prepare(load: TargetState, subject: Subject, connection: number, connections: number): () => Prepared;
}

const PAGE_SIZE = 25;
/** So that page 1,000 lies within 20,000 records of which three in four are visible. */
const DEEP_PAGE_SIZE = 10;
const DEEP_PAGE = 1000;

/** What the client remembers of a database from run to run: the revisions that it knows. */
export class TargetState {
  readonly target: Target;
  readonly revisions: Int32Array;
  readonly next = dice(Date.now());
  #effort = 100;
  readonly #samples: Sample[] = samples();

  constructor(target: Target) {
    this.target = target;
    this.revisions = new Int32Array(target.ids.length).fill(1);
  }

  among(count: number): number {
    return Math.floor(this.next() * count);
  }

  pick<T>(list: readonly T[]): T {
    return list[this.among(list.length)] as T;
  }

  /** A number that no record has, so that every update changes something. */
  effort(): number {
    return this.#effort++;
  }

  newValues(): Record<string, unknown> {
    const { title, description } = this.pick(this.#samples);
    const first = this.among(TAGS.length - 1);
    const day = String(1 + this.among(28)).padStart(2, '0');
    return {
      title: `${title} ${this.among(1_000_000)}`,
      description,
      priority: this.pick(PRIORITIES),
      area: this.pick(VISIBLE_AREAS),
      assignee: this.pick(this.target.facts.people),
      effort: this.among(40),
      due: `2026-12-${day}`,
      startedAt: `2026-11-${day}T09:15:00.000Z`,
      tags: TAGS.slice(first, first + 2),
      asset: this.pick(this.target.facts.assets),
    };
  }
}

function get(state: TargetState, subject: Subject, path: string): string {
  return `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${authorization(state, subject)}\r\n`;
}

function send(state: TargetState, subject: Subject, method: string, path: string, body: unknown, header = ''): string {
  const text = JSON.stringify(body);
  return (
    `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${authorization(state, subject)}${header}` +
    `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`
  );
}

function authorization(state: TargetState, subject: Subject): string {
  return subject === 'docket' ? `Authorization: Bearer ${state.target.key}\r\n` : '';
}

const root = (subject: Subject): string => (subject === 'docket' ? '/api/v1/objects' : '/records');

function list(query: { docket: string; bare: string }): Scenario['prepare'] {
  return (state, subject) => {
    const text = get(state, subject, `${root(subject)}?${query[subject]}`);
    return () => ({ text, status: 200 });
  };
}

export const SCENARIOS: readonly Scenario[] = [
  {
    name: 'read',
    says: 'read a record by id',
    prepare: (state, subject) => () => {
      const id = state.pick(state.target.ids);
      return { text: get(state, subject, `${root(subject)}/${id}`), status: 200 };
    },
  },
  {
    name: 'create',
    says: 'create a record of ten values, with an idempotency key',
    prepare: (state, subject) => () => {
      const body = { typeDefinitionId: 'ticket', values: state.newValues() };
      const key = `Idempotency-Key: ${randomUUID()}\r\n`;
      return { text: send(state, subject, 'POST', root(subject), body, key), status: 201 };
    },
  },
  {
    name: 'update',
    says: 'change one field, with the revision that the client knows',
    prepare: (state, subject, connection, connections) => {
      const { revisions, target } = state;
      // Each connection has records of its own, so that the revision it knows is the one that stands.
      const own = Math.floor((target.ids.length - 1 - connection) / connections) + 1;
      return () => {
        const index = connection + state.among(own) * connections;
        const body = { expectedRevision: revisions[index], changes: { effort: state.effort() } };
        return {
          text: send(state, subject, 'PATCH', `${root(subject)}/${target.ids[index]}`, body),
          status: 200,
          done: () => {
            revisions[index] = (revisions[index] ?? 0) + 1;
          },
        };
      };
    },
  },
  {
    name: 'catalog-request',
    says: 'make a request from the catalogue for one of the people, with an idempotency key (bare: a create)',
    prepare: (state, subject) => () => {
      const { people, catalogItemId } = state.target.facts;
      const { title, description, area, effort, due, asset } = state.newValues();
      const values = { title, description, area, effort, due, asset };
      const key = `Idempotency-Key: ${randomUUID()}\r\n`;
      const path = subject === 'docket' ? `/api/v1/catalog/items/${catalogItemId}/requests` : root(subject);
      const body =
        subject === 'docket' ? { requesterId: state.pick(people), values } : { typeDefinitionId: 'ticket', values };
      return { text: send(state, subject, 'POST', path, body, key), status: 201 };
    },
  },
  {
    name: 'list',
    says: `list page 1 of ${PAGE_SIZE} of the type`,
    prepare: list({ docket: 'typeId=ticket', bare: `limit=${PAGE_SIZE + 1}&offset=0` }),
  },
  {
    name: 'list-any',
    says: `list page 1 of ${PAGE_SIZE} of all types`,
    prepare: list({ docket: 'page=1', bare: `limit=${PAGE_SIZE + 1}&offset=0` }),
  },
  {
    name: 'list-deep',
    says: `list page ${DEEP_PAGE.toLocaleString('en')} of ${DEEP_PAGE_SIZE} of the type`,
    prepare: list({
      docket: `typeId=ticket&page=${DEEP_PAGE}&pageSize=${DEEP_PAGE_SIZE}`,
      bare: `limit=${DEEP_PAGE_SIZE + 1}&offset=${(DEEP_PAGE - 1) * DEEP_PAGE_SIZE}`,
    }),
  },
];

export function scenarioOf(name: string): Scenario {
  const found = SCENARIOS.find((scenario) => scenario.name === name);
  if (found === undefined) {
    throw new Error(`there is no scenario "${name}"; there are ${SCENARIOS.map((one) => one.name).join(', ')}`);
  }
  return found;
}
