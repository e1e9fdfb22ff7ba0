/** A service started as its users start it, with its embedded database, and plain HTTP to it. Imports nothing from `src/`. */
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  docket,
  type Ended,
  type Environment,
  freePort,
  type Service,
  startService,
} from '../test/harness/fault-service.ts';

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  /** Parsed JSON, undefined where it is none. */
  body: any;
}

export interface Call {
  key?: string | undefined;
  body?: unknown;
  headers?: Record<string, string>;
}

export const WORLD = `
types:
  - code: ticket
    name: { ru-RU: Заявка, en-US: Ticket }
    numbering: { prefix: TCK, digits: 7 }
    title: subject
    workflow: ticket
    fields:
      - { code: subject, name: { ru-RU: Тема, en-US: Subject }, dataType: string, required: true, constraints: { maxLength: 50 } }
      - { code: urgency, dataType: enum, default: low, constraints: { options: [{ code: low }, { code: high }] } }
      - { code: hours, dataType: decimal }
      - { code: due, dataType: datetime }
      - { code: parts, dataType: reference, multiple: true, constraints: { types: [part] } }
      - { code: open, dataType: boolean, default: true }
      - { code: secret, dataType: string }
  - { code: part, name: Part, category: dictionary, title: name, fields: [{ code: name, dataType: string, required: true }] }
workflows:
  - code: ticket
    initial: fresh
    states: [{ code: fresh, category: open }, { code: finished, category: done }]
    transitions: [{ code: finish, from: [fresh], to: finished }]
roles:
  - code: everything
    rights: [user.administer, role.assign, config.manage, audit.read, key.manage]
    records:
      - type: '*'
        actions: [read, create, update, archive, history, transition]
        fields: { read: '*', write: '*' }
        transitions: '*'
    assignedTo: { users: [chief] }
  - code: narrow
    records:
      - type: ticket
        where: { field: open, operator: equals, value: true }
        actions: [read, create, update]
        fields: { read: [subject, urgency, open], write: [subject, open] }
    assignedTo: { users: [helper] }
users:
  - { login: chief, displayName: Главный, email: chief@example.org }
  - { login: helper, displayName: Помощник, email: helper@example.org }
  - { login: outsider, displayName: Чужой, email: outsider@example.org }
`;

export class World {
  readonly folder: string;
  readonly #env: Environment;
  readonly #service: Service;
  /** The key of `chief`, with every scope of the specification. */
  key = '';

  private constructor(folder: string, env: Environment, service: Service) {
    this.folder = folder;
    this.#env = env;
    this.#service = service;
  }

  static async start(more: Environment = {}): Promise<World> {
    const folder = await realpath(await mkdtemp(path.join(tmpdir(), 'docket-acceptance-')));
    const env = { DOCKET_DATA_DIR: path.join(folder, 'data'), DOCKET_PORT: String(await freePort()), ...more };
    try {
      const world = new World(folder, env, await startService(env));
      await world.apply(WORLD);
      world.key = await world.keyOf('chief');
      return world;
    } catch (error) {
      await rm(folder, { recursive: true, force: true });
      throw error;
    }
  }

  get url(): string {
    return this.#service.url;
  }

  get output(): string {
    return this.#service.output();
  }

  async docket(args: readonly string[], input = ''): Promise<Ended> {
    return await docket(args, this.#env, input);
  }

  /** Writes a bundle of one file. @returns its folder */
  async bundle(name: string, text: string): Promise<string> {
    const folder = path.join(this.folder, name);
    await mkdir(folder, { recursive: true });
    await writeFile(path.join(folder, 'bundle.yaml'), text);
    return folder;
  }

  async apply(text: string): Promise<unknown> {
    const done = await this.docket(['apply', await this.bundle('applied', text), '--json']);
    if (done.code !== 0) throw new Error(done.stderr);
    // A running service follows within a second.
    await sleep(1000);
    return JSON.parse(done.stdout);
  }

  async keyOf(owner: string, scopes = 'all'): Promise<string> {
    const made = await this.docket([
      'keys',
      'create',
      '--owner',
      owner,
      '--name',
      'test',
      '--scopes',
      scopes,
      '--json',
    ]);
    if (made.code !== 0) throw new Error(made.stderr);
    return (JSON.parse(made.stdout) as { key: string }).key;
  }

  /** One request as given: `body` that is a string or bytes goes out as it is. */
  async send(method: string, place: string, call: Call = {}): Promise<Answer> {
    const headers = new Headers(call.headers);
    const key = Object.hasOwn(call, 'key') ? call.key : this.key;
    if (key !== undefined) headers.set('authorization', `Bearer ${key}`);
    const init: RequestInit = { method, headers };
    if (call.body !== undefined) {
      if (!headers.has('content-type')) headers.set('content-type', 'application/json');
      const raw = typeof call.body === 'string' || call.body instanceof Uint8Array;
      init.body = raw ? (call.body as string | Uint8Array<ArrayBuffer>) : JSON.stringify(call.body);
    }
    const response = await fetch(`${this.url}${place}`, init);
    const text = await response.text();
    const json = (response.headers.get('content-type') ?? '').includes('json');
    return { status: response.status, headers: response.headers, text, body: json ? JSON.parse(text) : undefined };
  }

  /** A request to the public interface. */
  async api(method: string, place: string, call: Call = {}): Promise<Answer> {
    return await this.send(method, `/api/v1${place}`, call);
  }

  async create(values: Record<string, unknown> = {}, typeDefinitionId = 'ticket'): Promise<any> {
    const body = {
      typeDefinitionId,
      values: typeDefinitionId === 'ticket' ? { subject: 'Принтер', ...values } : values,
    };
    const answer = await this.api('POST', '/objects', { body });
    if (answer.status !== 201) throw new Error(answer.text);
    return answer.body.data;
  }

  async stop(): Promise<void> {
    await this.#service.stop();
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** What every answer of the interface has, whatever it is. */
export function problemsOf(answer: Answer): string[] {
  const problems: string[] = [];
  const id = answer.headers.get('x-correlation-id');
  if (id === null) problems.push('no X-Correlation-Id');
  const meta = answer.body?.meta;
  if (meta?.correlationId !== id) problems.push('meta.correlationId is not that of the header');
  if (meta?.apiVersion !== 'v1') problems.push('meta.apiVersion');
  const members = Object.keys(answer.body ?? {})
    .sort()
    .join();
  if (answer.status < 400 && members !== 'data,meta') problems.push(`members ${members}`);
  if (answer.status >= 400) {
    if (members !== 'error,meta') problems.push(`members ${members}`);
    const error = answer.body?.error ?? {};
    if (Object.keys(error).sort().join() !== 'code,details,message') problems.push(`error has ${Object.keys(error)}`);
    if (!/^[A-Z_]+$/.test(error.code)) problems.push(`code ${error.code}`);
    if (typeof error.message !== 'string' || !/^\S.*[.!]$/s.test(error.message))
      problems.push(`message ${error.message}`);
    if (Array.isArray(error.details)) {
      for (const detail of error.details) {
        if (Object.keys(detail).sort().join() !== 'code,message,path')
          problems.push(`detail ${JSON.stringify(detail)}`);
      }
    } else if (typeof error.details !== 'object' || error.details === null) problems.push('details');
  }
  return problems;
}
