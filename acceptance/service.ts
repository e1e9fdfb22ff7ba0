/**
 * Starts a service with its embedded database, as users do, and calls it over HTTP. Imports nothing from `src/`. With
 * DOCKET_ACCEPTANCE_URL and DOCKET_ACCEPTANCE_KEY, a running service is used over HTTP only (`npm run acceptance`); tests that
 * need more are skipped and reported.
 */
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { before as beforeAll, it as test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  docket,
  type Ended,
  type Environment,
  freePort,
  type Service,
  startService,
} from '../test/proofs/fault-service.ts';

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

/** Number of retries of a request that was rejected because of overload. */
const TRIES = 5;

/** What a service elsewhere cannot be asked for through HTTP. */
class NeedsTheMachine extends Error {
  constructor(what: string) {
    super(`it needs ${what}, which is not to be had through HTTP`);
  }
}

const elsewhere = (): { url: string; key: string } | undefined => {
  const { DOCKET_ACCEPTANCE_URL: url, DOCKET_ACCEPTANCE_KEY: key } = process.env;
  return url === undefined || key === undefined ? undefined : { url: url.replace(/\/+$/, ''), key };
};

/** Why the tests of this file are left out: each file is a process of its own. */
const file: { unmet?: NeedsTheMachine } = {};

/** Like the function of the test runner. Tests are skipped if the running service cannot be set up as the file needs. */
export function before(set: () => Promise<void>): void {
  beforeAll(async () => {
    try {
      await set();
    } catch (error) {
      if (!(error instanceof NeedsTheMachine)) throw error;
      file.unmet = error;
    }
  });
}

/** As the test runner's own; a test that needs the machine of a service elsewhere is left out, with the reason. */
export function it(name: string, check: () => unknown): void {
  test(name, async (t) => {
    try {
      if (file.unmet !== undefined) throw file.unmet;
      await check();
    } catch (error) {
      if (!(error instanceof NeedsTheMachine)) throw error;
      t.diagnostic(`left out: ${error.message}`);
    }
  });
}

export const CONFIGURATION = `
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

/** The configuration of the starter bundle plus the one above. */
export class Fixture {
  readonly #folder: string | undefined;
  readonly #env: Environment;
  readonly #service: Service | undefined;
  readonly url: string;
  /** For configuration and keys, which calls make much sooner than commands. */
  #adminKey: string | undefined;
  /** The key of `chief`, with every scope of the specification. */
  key = '';

  private constructor(
    url: string,
    own: { folder: string; env: Environment; service: Service } | undefined,
    adminKey?: string,
  ) {
    this.url = url;
    this.#folder = own?.folder;
    this.#env = own?.env ?? {};
    this.#service = own?.service;
    this.#adminKey = adminKey;
  }

  /**
   * @param settings additional settings of the service
   * @param without true if the tests also make sense on a service without these settings
   */
  static async start(settings: Environment = {}, without: 'nothing' | 'most' = 'nothing'): Promise<Fixture> {
    const remote = elsewhere();
    if (remote !== undefined) {
      const names = Object.keys(settings);
      if (names.length > 0 && without === 'nothing')
        throw new NeedsTheMachine(`a service started with ${names.join(' and ')}`);
      return await Fixture.#set(new Fixture(remote.url, undefined, remote.key));
    }
    const folder = await realpath(await mkdtemp(path.join(tmpdir(), 'docket-acceptance-')));
    const env = { DOCKET_DATA_DIR: path.join(folder, 'data'), DOCKET_PORT: String(await freePort()), ...settings };
    try {
      const service = await startService(env);
      return await Fixture.#set(new Fixture(service.url, { folder, env, service }));
    } catch (error) {
      await rm(folder, { recursive: true, force: true });
      throw error;
    }
  }

  static async #set(fixture: Fixture): Promise<Fixture> {
    fixture.#adminKey ??= await fixture.#firstKey();
    await fixture.apply(CONFIGURATION);
    fixture.key = await fixture.keyOf('chief');
    if (fixture.#service === undefined) await fixture.#clear();
    return fixture;
  }

  async #firstKey(): Promise<string> {
    const args = ['keys', 'create', '--owner', 'admin', '--name', 'acceptance', '--scopes', 'admin:manage', '--json'];
    const made = await this.docket(args);
    if (made.code !== 0) throw new Error(made.stderr);
    return (JSON.parse(made.stdout) as { key: string }).key;
  }

  /** Archives what an earlier file left on a running service; only records of the suite's own types. */
  async #clear(): Promise<void> {
    for (const typeId of ['ticket', 'part']) {
      for (;;) {
        const { rows } = (await this.api('GET', `/objects?typeId=${typeId}&pageSize=100`)).body.data;
        if (rows.length === 0) break;
        const items = rows.map(({ id, revision }: { id: string; revision: number }) => ({
          objectId: id,
          expectedRevision: revision,
        }));
        const done = await this.api('POST', '/bulk', { body: { operation: 'archive', items } });
        if (done.body.data.some(({ status }: { status: string }) => status !== 'SUCCEEDED')) throw new Error(done.text);
      }
    }
  }

  get folder(): string {
    if (this.#folder === undefined) throw new NeedsTheMachine('a folder on its machine');
    return this.#folder;
  }

  get output(): string {
    if (this.#service === undefined) throw new NeedsTheMachine('what the service prints');
    return this.#service.output();
  }

  /** For what a service elsewhere cannot show. @throws NeedsTheMachine there */
  isOwn(what: string): void {
    if (this.#service === undefined) throw new NeedsTheMachine(what);
  }

  async docket(args: readonly string[], input = ''): Promise<Ended> {
    this.isOwn('the command line');
    return await docket(args, this.#env, input);
  }

  /** Writes a bundle of one file. @returns its folder */
  async bundle(name: string, text: string): Promise<string> {
    const folder = path.join(this.folder, name);
    await mkdir(folder, { recursive: true });
    await writeFile(path.join(folder, 'bundle.yaml'), text);
    return folder;
  }

  async #administer(place: string, body: unknown): Promise<any> {
    const answer = await this.send('POST', `/api/admin/v1${place}`, { key: this.#adminKey, body });
    if (answer.status >= 300) throw new Error(`POST ${place}: ${answer.status} ${answer.text}`);
    return answer.body.data;
  }

  async apply(text: string): Promise<unknown> {
    const applied = await this.#administer('/config/apply', { files: [{ name: 'acceptance.yaml', text }] });
    // Every process of a service follows within a second.
    await sleep(1000);
    return applied;
  }

  async keyOf(owner: string, scopes = 'all'): Promise<string> {
    const made = await this.#administer('/keys', { owner, name: 'acceptance', scopes: scopes.split(',') });
    return (made as { key: string }).key;
  }

  /**
   * Sends one request. A `body` that is a string or bytes is sent unchanged. Retries if the service responds with Retry-After,
   * as every integration should.
   */
  async send(method: string, place: string, call: Call = {}): Promise<Answer> {
    for (let left = TRIES; ; left--) {
      const answer = await this.#once(method, place, call);
      const seconds = answer.headers.get('retry-after');
      if (answer.status !== 503 || seconds === null || left === 0) return answer;
      await sleep(Number(seconds) * 1000);
    }
  }

  async #once(method: string, place: string, call: Call): Promise<Answer> {
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
    await this.#service?.stop();
    if (this.#folder !== undefined) await rm(this.#folder, { recursive: true, force: true });
  }
}

/** What every response of the API has. */
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
