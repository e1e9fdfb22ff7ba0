/** What a scenario is, and what its requests know of the database that they go to. */
import { dice, PRIORITIES, type Sample, samples, TAGS, VISIBLE_AREAS } from './corpus.ts';

export type Subject = 'docket' | 'baseline';
export const SUBJECTS: readonly Subject[] = ['docket', 'baseline'];

/** A transition and its source state. */
interface Move {
  id: string;
  from: string;
}

/** What requests need to know of the database: ids that they may name. */
export interface DatabaseFacts {
  typeId: string;
  ownerId: string;
  people: string[];
  assets: string[];
  transitions: { take: Move; giveBack: Move };
  relationId: string;
  /** Records with many comments. */
  talkative: string[];
  /** Attachments to read. */
  files: string[];
  catalogItemId: string;
  groups: string[];
  /** Users who become members of groups. */
  members: string[];
}

/** What the load generator knows about an environment (one database with its service and baseline server). */
export interface Target {
  ports: Record<Subject, number>;
  key: string;
  /** Key of a user with many roles. */
  keyOfRoles: string;
  facts: DatabaseFacts;
  /** Ids of readable records, all of revision 1. */
  ids: string[];
}

/** One request and what to record of its response. */
export interface Prepared {
  text: string;
  status: number;
  /** Whether the body of an answer with that status is as it must be; left out, it is. */
  holds?: (body: string) => boolean;
  /** Called when the answer came as it must be. */
  done?: () => void;
}

export interface Scenario {
  name: string;
  says: string;
  /** Number of concurrent requests, if not that of the plan. */
  connections?: number;
  /** Statuses that are no errors but do not count as requests either. */
  tolerated?: readonly number[];
  /** Makes the requests of one connection; called once a run, so that a request itself costs the client little. */
  prepare(load: TargetState, subject: Subject, connection: number, connections: number): () => Prepared;
}

/** Bytes of a measured file, and how many there are to read. */
export const FILE_BYTES = 100_000;
export const FILES = 50;
/** Records with this many comments each, for reading them. */
export const TALKATIVE = 200;
export const TALKATIVE_COMMENTS = 50;
export const BULK_ITEMS = 1000;

/** Revisions that the client knows, kept from run to run of a database. */
export class TargetState {
  readonly target: Target;
  readonly revisions: Int32Array;
  /** 1 if the record is in the target state of the transition `take`. */
  readonly taken: Uint8Array;
  readonly next = dice(Date.now());
  #effort = 100;
  readonly #samples: Sample[] = samples();

  constructor(target: Target) {
    this.target = target;
    this.revisions = new Int32Array(target.ids.length).fill(1);
    this.taken = new Uint8Array(target.ids.length);
  }

  among(count: number): number {
    return Math.floor(this.next() * count);
  }

  /** How many of the records are this connection's own: the index is `connection + n × connections`. */
  share(connection: number, connections: number): number {
    return Math.floor((this.target.ids.length - 1 - connection) / connections) + 1;
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

export function get(state: TargetState, subject: Subject, path: string, key = state.target.key): string {
  return `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${authorization(key, subject)}\r\n`;
}

export function send(
  state: TargetState,
  subject: Subject,
  method: string,
  path: string,
  body: unknown,
  header = '',
): string {
  const text = JSON.stringify(body);
  return (
    `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${authorization(state.target.key, subject)}${header}` +
    `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`
  );
}

function authorization(key: string, subject: Subject): string {
  return subject === 'docket' ? `Authorization: Bearer ${key}\r\n` : '';
}

export const root = (subject: Subject): string => (subject === 'docket' ? '/api/v1/objects' : '/records');
