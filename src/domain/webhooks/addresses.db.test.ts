/** Private addresses as endpoints of a bundle: checked when saved, as in a call, and again on each socket. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startTestApp, type TestAnswer, type TestApp } from '../../../test/support/app.ts';
import { HOSTILE_NAMES, PRIVATE_HOSTS, startPrivateListener } from '../../../test/support/private-listener.ts';
import { type WebhookFixture, startWebhookFixture } from '../../../test/support/webhook-fixture.ts';
import { bundle } from '../../../test/support/small-configuration.ts';

const PUBLIC = ['1.1.1.1'];

function hook(code: string, endpoint: string, more = ''): string {
  return `  - { code: ${code}, endpoint: '${endpoint}', secretRef: main, executionPrincipal: boss, eventTypes: [ObjectCreated]${more} }\n`;
}

function hooksOf(...items: string[]): { name: string; text: string }[] {
  return bundle(`webhooks:\n${items.join('')}`);
}

interface Place {
  file?: string;
  line?: number;
  at?: string;
  code: string;
  message: string;
}

function problems(answer: TestAnswer): Place[] {
  assert.equal(answer.status, 400, JSON.stringify(answer.body));
  assert.equal(answer.body.error.code, 'INVALID_REQUEST');
  return answer.body.error.details;
}

describe('a bundle with private addresses', () => {
  let hooks: WebhookFixture;
  const asked: string[] = [];
  let answers: (name: string) => readonly string[];
  before(async () => {
    const resolve = async (name: string): Promise<readonly string[]> => {
      asked.push(name);
      return answers(name);
    };
    answers = (name) => HOSTILE_NAMES.get(name) ?? PUBLIC;
    hooks = await startWebhookFixture({ idle: true, outbound: { allowPrivate: false, resolve } });
  });
  after(() => hooks.close());

  const plan = (files: unknown) => hooks.admin('boss', 'POST', '/config/plan', { files });
  const apply = (files: unknown) => hooks.admin('boss', 'POST', '/config/apply', { files });
  const actions = async (answer: TestAnswer): Promise<string[]> => {
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    return answer.body.data.map(({ code, action }: { code: string; action: string }) => `${code} ${action}`);
  };

  it('is rejected like the call, by plan and apply, with the path of each', async () => {
    const endpoints = PRIVATE_HOSTS.map((host) => `https://${host}:8443/hook`);
    const files = hooksOf(...endpoints.map((endpoint, index) => hook(`h${index}`, endpoint)));
    for (const [channel, ask] of Object.entries({ plan, apply })) {
      const found = problems(await ask(files));
      assert.deepEqual(
        found.map(({ file, line, at, code }) => `${file}:${line} ${at} ${code}`),
        endpoints.map((_, index) => `world.yaml:${index + 2} webhooks[${index}].endpoint ADDRESS_REFUSED`),
        channel,
      );
      const body = { secretRef: 'main', executionPrincipalId: hooks.ids.boss, eventTypes: ['ObjectCreated'] };
      for (const [index, endpoint] of endpoints.entries()) {
        const call = await hooks.call('boss', 'POST', '/webhooks', { ...body, code: `c${index}`, endpoint });
        const [refusal] = problems(call);
        assert.deepEqual([refusal?.code, refusal?.message], [found[index]?.code, found[index]?.message], endpoint);
      }
    }
    assert.deepEqual(await hooks.ok('boss', 'GET', '/webhooks'), [], 'nothing was saved');
  });

  it('is checked only for new or changed endpoints', async () => {
    const names = 'https://hooks.example.org/x';
    assert.deepEqual(await actions(await apply(hooksOf(hook('kept', names)))), ['kept create']);
    const { files } = (await hooks.okAdmin('boss', 'GET', '/config/export')) as { files: unknown };
    asked.length = 0;
    answers = () => {
      throw new Error('no name server answers');
    };
    for (const ask of [plan, apply]) {
      const all = await actions(await ask(files));
      assert.ok(all.includes('kept leave') && all.every((line) => line.endsWith(' leave')), all.join());
    }
    answers = () => ['10.0.0.1'];
    const changed = await apply(hooksOf(hook('kept', names, ', retryPolicy: { maxAttempts: 7 }')));
    assert.deepEqual(await actions(changed), ['kept change']);
    assert.deepEqual(asked, [], 'no name was looked up');
    const [moved] = problems(await apply(hooksOf(hook('kept', 'https://other.example.org/x'))));
    assert.deepEqual([moved?.at, moved?.code], ['webhooks[0].endpoint', 'ADDRESS_REFUSED']);
    assert.deepEqual(asked, ['other.example.org']);
    answers = () => {
      throw new Error('no name server answers');
    };
    const unknown = await apply(hooksOf(hook('kept', 'https://other.example.org/x')));
    assert.deepEqual(await actions(unknown), ['kept change'], 'checked on each socket');
  });
});

describe('a bundle that was applied while private addresses were allowed', () => {
  it('can be applied again under the rule and connects to none, since each socket is checked', async () => {
    const canary = await startPrivateListener();
    const hooks = await startWebhookFixture({ idle: true });
    let strict: TestApp | undefined;
    try {
      const hosts = ['127.0.0.1', 'localhost', '[::1]', '2130706433'];
      const files = hooksOf(...hosts.map((host, index) => hook(`h${index}`, `https://${host}:${canary.port}/x`)));
      await hooks.okAdmin('boss', 'POST', '/config/apply', { files });
      strict = await startTestApp({ on: hooks.app, outbound: { allowPrivate: false } });
      const again = await strict.request('POST', '/api/admin/v1/config/apply', {
        key: hooks.adminKeys.boss,
        body: { files },
      });
      assert.equal(again.status, 200, JSON.stringify(again.body));
      await hooks.make();
      strict.app.startWorker();
      for (const { id } of await hooks.ok('boss', 'GET', '/webhooks')) {
        const [delivery] = await hooks.settled(id);
        assert.deepEqual([delivery.status, delivery.attemptCount], ['FAILED', 1]);
        assert.match(delivery.error, /not public/);
      }
      assert.equal(canary.sung, 0);
    } finally {
      await strict?.close();
      await hooks.close();
      await canary.close();
    }
  });
});
