/** What the cases of operations are made with. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { TestApp } from './app.ts';
import { type Call, HIDDEN_FIELD, HIDDEN_VALUE, type OperationCase } from './operation-calls-case.ts';

/** What `<module>.cases.ts` exports as `cases`. */
export interface ModuleCases {
  /** Sections of the bundle, beside those of `operation-calls.ts`. */
  world?: string;
  /** The cases of the module's operations by their ids. Calls make what they need when they are made. */
  of(make: OperationFixture): Readonly<Record<string, OperationCase>>;
}

/** A running service, and keys of `full`. */
interface Running {
  app: TestApp;
  key: string;
  adminKey: string;
}

/** Makes what calls are about, with the rights of `full`. */
export class OperationFixture {
  readonly #running: Running | undefined;

  /** Without a service, the cases can be listed, but not called. */
  constructor(running?: Running) {
    this.#running = running;
  }

  get app(): TestApp {
    return this.#need().app;
  }

  #need(): Running {
    assert.ok(this.#running, 'calls need a running service');
    return this.#running;
  }

  /** A call below `/api/v1`; gives the answer's `data`. */
  async send(method: string, path: string, body?: unknown): Promise<any> {
    return await this.#call(method, `/api/v1${path}`, this.#need().key, body);
  }

  /** A call below `/api/admin/v1`; gives the answer's `data`. */
  async admin(method: string, path: string, body?: unknown): Promise<any> {
    return await this.#call(method, `/api/admin/v1${path}`, this.#need().adminKey, body);
  }

  async #call(method: string, path: string, key: string, body: unknown): Promise<unknown> {
    const answer = await this.app.request(method, path, { key, body });
    assert.ok(answer.status < 300, `${method} ${path}: ${JSON.stringify(answer.body)}`);
    return answer.body.data;
  }

  /** The id of a new record, that `partial` may see or not, with a value in the field that `partial` may not read. */
  async record(shown: boolean): Promise<string> {
    const values = { title: 'A thing', [HIDDEN_FIELD]: HIDDEN_VALUE, shown };
    return (await this.send('POST', '/objects', { typeDefinitionId: 'thing', values })).id;
  }

  /** A call on one thing, named by a parameter of the path: visible, hidden or absent. */
  on(
    name: string,
    one: (shown: boolean) => Promise<string>,
    body: () => unknown = () => undefined,
  ): Pick<OperationCase, 'call'> & Required<Pick<OperationCase, 'hidden'>> {
    const call = async (id: string): Promise<Call> => ({ params: { [name]: id }, body: await body() });
    return {
      call: async () => await call(await one(true)),
      hidden: { seen: async () => await call(await one(false)), absent: async () => await call(randomUUID()) },
    };
  }

  onRecord(body?: () => unknown): ReturnType<OperationFixture['on']> {
    return this.on('objectId', (shown) => this.record(shown), body);
  }

  /** Users who may make the call may make it on everything. */
  hidesNothing(name: string, body?: unknown): NonNullable<OperationCase['hidden']> {
    const absent = (): Call => ({ params: { [name]: randomUUID() }, body });
    return { seen: async () => absent(), absent };
  }

  /** The body of a call on something new that has revisions. */
  readonly expected = (): unknown => ({ expectedRevision: 1 });
}
