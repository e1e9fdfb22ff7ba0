/** Calls of the operations for the tests over all modules (docs/how-to/write-a-module.md#the-cases). */
import { randomUUID } from 'node:crypto';
import { createSecret } from './index.ts';
import { TEST_SECRETS } from '../../../test/support/app.ts';
import { MINIMAL, missing } from '../../../test/support/operation-calls-case.ts';
import type { ModuleCases } from '../../../test/support/operation-calls-fixture.ts';
import { idOf, stored } from '../../../test/support/small-configuration.ts';

export const cases: ModuleCases = {
  of: (make) => {
    /** The code of a new signing secret with a value. */
    const secret = async (): Promise<string> => {
      const code = `s-${randomUUID()}`;
      await make.app.app.work.write(make.app.app.system(), (ctx) => createSecret(ctx, TEST_SECRETS, code));
      return code;
    };

    /** A subscription to nowhere that `partial` could make too. */
    const subscription = async (enabled: boolean): Promise<Record<string, unknown>> => {
      return {
        code: `w-${randomUUID()}`,
        endpoint: 'https://1.1.1.1/hook',
        secretRef: await secret(),
        executionPrincipalId: await idOf(make.app, 'users', 'partial'),
        eventTypes: ['SlaBreached'],
        enabled,
      };
    };

    const subscribed = async (
      enabled: boolean,
      archived = false,
      endpoint = 'https://1.1.1.1/hook',
    ): Promise<string> => {
      const { id } = await make.send('POST', '/webhooks', { ...(await subscription(enabled)), endpoint });
      const statement = `UPDATE config_items SET state = 'ARCHIVED' WHERE id = $1`;
      if (archived) await stored(make.app, statement, [id]);
      return id;
    };

    /** A delivery that failed, of an enabled subscription. */
    const failed = async (): Promise<string> => {
      const id = randomUUID();
      await stored(
        make.app,
        `INSERT INTO webhook_deliveries (id, subscription_id, event_id, event_type, event_at, event_seq, event_data, status, attempt_count,
        max_attempts, base_delay_ms, created_at, due_at, finished_at)
      VALUES ($1, $2, $1, 'SlaBreached', now(), 0, '{}', 'FAILED', 3, 3, 1000, now(), now(), now())`,
        [id, await subscribed(true)],
      );
      return id;
    };
    /** Nothing about integrations is hidden from users who manage them: an id of another kind serves as the absent one. */
    const hook = (one: () => Promise<string>, body: () => unknown = () => undefined) => ({
      ...make.on('id', (shown) => (shown ? one() : make.record(false)), body),
      lacks: missing('webhook.manage'),
    });
    return {
      'webhooks.list': { call: () => ({}), lacks: missing('webhook.manage') },
      'webhooks.create': {
        call: async () => ({ body: await subscription(true) }),
        lacks: missing('webhook.manage'),
        large: MINIMAL,
      },
      'webhooks.change': {
        ...hook(
          () => subscribed(false),
          () => ({ endpoint: 'https://1.1.1.1/other' }),
        ),
        large: MINIMAL,
      },
      'webhooks.enable': hook(() => subscribed(false)),
      'webhooks.disable': hook(() => subscribed(true)),
      'webhooks.archive': hook(() => subscribed(true)),
      'webhooks.restore': hook(() => subscribed(false, true)),
      'webhooks.deliveries': { call: () => ({}), lacks: missing('webhook.manage') },
      'webhooks.delivery': hook(() => failed()),
      'webhooks.retry': hook(() => failed()),
      'webhooks.test': hook(
        () => subscribed(false, false, 'https://receiver.invalid/hook'),
        () => ({}),
      ),
      'secrets.list': { call: () => ({}), lacks: missing('webhook.manage') },
      'secrets.create': { call: () => ({ body: { code: `s-${randomUUID()}` } }), lacks: missing('webhook.manage') },
      'secrets.rotate': {
        call: async () => ({ params: { code: await secret() }, body: { overlap: 'PT1H' } }),
        lacks: missing('webhook.manage'),
      },
    };
  },
};
