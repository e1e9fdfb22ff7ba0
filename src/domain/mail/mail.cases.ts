/** Calls of the operations for the tests over all modules (docs/how-to/write-a-module.md#the-cases). */
import { randomUUID } from 'node:crypto';
import { repeat } from '../../../test/support/largest-texts.ts';
import { missing } from '../../../test/support/operation-calls-case.ts';
import type { ModuleCases } from '../../../test/support/operation-calls-fixture.ts';
import { stored } from '../../../test/support/small-configuration.ts';

export const cases: ModuleCases = {
  world: `
mailboxes: [{ code: box, address: box@example.org, type: thing, enabled: true }]
`,
  of: (make) => {
    const lacks = missing('integration.manage');
    const message = (): { raw: string } => ({
      raw: Buffer.from(`From: ${randomUUID()}@example.net\r\n\r\nHelp`).toString('base64'),
    });
    const received = async (): Promise<string> => (await make.send('POST', '/mailboxes/box/messages', message())).id;
    /** A mail that was given up. */
    const sent = async (): Promise<string> => {
      const id = randomUUID();
      await stored(
        make.app,
        `INSERT INTO mail_outgoing (id, user_id, notification_ids, status, attempts, due_at, next_at, finished_at, error)
      SELECT $1, id, ARRAY[$1::uuid], 'FAILED', 1, now(), now(), now(), '550 No such user' FROM users WHERE login = 'partial'`,
        [id],
      );
      return id;
    };
    return {
      'mail.receive': {
        call: async () => ({ params: { code: 'box' }, body: message() }),
        lacks: { login: 'nobody', status: 201 },
        large: () =>
          ['text/plain', 'text/html'].map((type) => ({
            name: `a message of ${type}`,
            params: { code: 'box' },
            body: {
              raw: Buffer.from(`Content-Type: ${type}\r\n\r\n${repeat('<p>a b</p>\r\n', 7_800_000)}`).toString(
                'base64',
              ),
            },
            status: 201,
          })),
      },
      'mail.messages': { call: async () => ({}), lacks },
      'mail.retry': {
        call: async () => ({ params: { messageId: await received() } }),
        lacks,
        hidden: make.hidesNothing('messageId'),
      },
      'mail.sent': { call: async () => ({}), lacks },
      'mail.send-again': {
        call: async () => ({ params: { mailId: await sent() } }),
        lacks,
        hidden: make.hidesNothing('mailId'),
      },
    };
  },
};
