/** Makes successful calls of a running service and records them with the responses as examples of the OpenAPI documents. */
import assert from 'node:assert/strict';
import type { Example } from '../../src/contract/examples.ts';
import type { Operation } from '../../src/contract/operation.ts';
import { MODULES } from '../../src/modules.ts';
import { operationsOf } from '../../src/platform/module.ts';
import type { TestApp } from './app.ts';

/** Longer lists and texts are cut: an example shows what an answer looks like. */
const MAX_ITEMS = 3;
/** Characters of an answer without envelope that is shown as a whole. */
const LONGEST_RAW = 20_000;
const LONGEST_TEXT = 1000;

export type Call = Omit<Example, 'answer' | 'mediaType'>;

/** Makes calls as the administrator and records each as the example of its operation. */
export class Recorder {
  readonly examples = new Map<string, Example>();
  readonly app: TestApp;
  readonly #keys: { public: string; console: string };
  readonly #operations = new Map<string, Operation>(operationsOf(MODULES).map((one) => [one.id, one]));

  constructor(app: TestApp, keys: { public: string; console: string }) {
    this.app = app;
    this.#keys = keys;
  }

  /** Makes a call that must succeed and records it. @returns `data` of the response */
  async keep(id: string, call: Call = {}, session?: Record<string, string>): Promise<any> {
    const { answer, mediaType } = await this.#send(id, call, session);
    const example: Example = { ...call, ...(answer === undefined ? {} : { answer }), ...mediaType };
    this.examples.set(id, shown(JSON.parse(JSON.stringify(example))) as Example);
    return answer;
  }

  /** Makes a call that must succeed, without keeping it. */
  async make(id: string, call: Call = {}): Promise<any> {
    return (await this.#send(id, call)).answer;
  }

  async #send(id: string, call: Call, session?: Record<string, string>) {
    const operation = this.#operations.get(id);
    assert.ok(operation, `there is no operation ${id}`);
    const isPublic = operation.access !== 'console' && operation.access !== 'open';
    const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
      const value = call.params?.[name];
      assert.ok(value, `${id} needs ${name}`);
      return encodeURIComponent(value);
    });
    const query = new URLSearchParams(
      Object.entries(call.query ?? {}).map(([name, value]) => [name, String(value)]),
    ).toString();
    const address = `${isPublic ? '/api/v1' : '/api/admin/v1'}${path}${query === '' ? '' : `?${query}`}`;
    const key =
      operation.access === 'open' || session !== undefined ? {} : { key: this.#keys[isPublic ? 'public' : 'console'] };
    const { status, headers, body } = await this.app.request(operation.method, address, {
      ...key,
      ...(session === undefined ? {} : { headers: session }),
      ...(call.body === undefined ? {} : { body: call.body }),
    });
    assert.equal(status, operation.status, `${id}: ${JSON.stringify(body)}`);
    if (operation.raw === undefined) return { answer: body.data };
    const mediaType = (headers.get('content-type') ?? '').split(';')[0] ?? '';
    return /json|^text\//.test(mediaType) ? { answer: outlined(body), mediaType: { mediaType } } : {};
  }
}

/** A long answer without envelope, such as a JSON Schema: only its members that are no object or list. */
function outlined(body: unknown): unknown {
  if (typeof body !== 'object' || body === null || JSON.stringify(body).length <= LONGEST_RAW) return body;
  return Object.fromEntries(Object.entries(body).filter(([, value]) => typeof value !== 'object'));
}

/** A value as an example shows it: cut to size, and without anything that looks like a secret of a real service. */
function shown(value: unknown, name = ''): unknown {
  if (Array.isArray(value)) return value.slice(0, MAX_ITEMS).map((item) => shown(item));
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([member, part]) => [member, shown(part, member)]));
  }
  if (typeof value !== 'string') return value;
  if (/^dk_\w{16}_/.test(value)) return 'dk_EXAMPLE0EXAMPLE0_thisIsAnExampleAndNoKeyOfAnyServiceAtAll_000000';
  if (value.startsWith('whsec_')) return `whsec_${Buffer.from('an example, and no secret at all').toString('base64')}`;
  if (name === 'csrfToken') return 'thisIsAnExampleAndNoTokenOfAnySession';
  if (name === 'prefix') return 'dk_EXAMPLE0EXAMPLE0';
  if (name === 'endpoint') return value.replace('1.1.1.1', 'hooks.example.org');
  return value.length > LONGEST_TEXT ? `${value.slice(0, LONGEST_TEXT)}…` : value;
}
