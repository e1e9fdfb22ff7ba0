/** The rows of `operation-calls.ts` that are about integrations, calls from outside and received mail. */
import { randomUUID } from 'node:crypto';

interface Call {
  params?: Record<string, string>;
  body?: unknown;
}

/** A row as `operation-calls.ts` has them. */
interface Row {
  call(): Promise<Call>;
  lacks: { login: 'nobody' | 'reader'; status: number; code?: string; details?: unknown };
  hidden?: { seen(): Promise<Call>; absent(): Promise<Call> };
}

export interface InboundMaker {
  /** A call below `/api/v1` with every right; gives the answer's `data`. */
  send(method: string, path: string, body?: unknown): Promise<any>;
  /** The id of a new record, that `partial` may see or not. */
  record(shown: boolean): Promise<string>;
  /** The id of a mail that was given up. */
  sent(): Promise<string>;
}

export function inboundCases(make: InboundMaker): Record<string, Row> {
  const lacks: Row['lacks'] = {
    login: 'nobody',
    status: 403,
    code: 'RIGHT_MISSING',
    details: { right: 'integration.manage' },
  };
  const partial = async (): Promise<string> => {
    const users = (await make.send('GET', '/identity/users')) as { id: string; login: string }[];
    return users.find(({ login }) => login === 'partial')?.id ?? '';
  };
  const fresh = async (enabled: boolean): Promise<object> => ({
    code: `i-${randomUUID()}`,
    type: 'inbound-webhook',
    executionPrincipalId: await partial(),
    enabled,
    config: { command: 'object.create', typeDefinitionId: 'thing', mapping: [{ source: 'name', target: 'title' }] },
  });
  const made = async (enabled = false): Promise<string> =>
    (await make.send('POST', '/integrations', await fresh(enabled))).id;
  const on = (body?: unknown): Row => ({
    call: async () => ({ params: { id: await made() }, body }),
    lacks,
    hidden: {
      seen: async () => ({ params: { id: randomUUID() }, body }),
      absent: async () => ({ params: { id: randomUUID() }, body }),
    },
  });
  const changing = async (objectId: string): Promise<Call> => {
    const config = {
      command: 'object.update',
      mapping: ['objectId', 'expectedRevision', 'title'].map((name) => ({ source: name, target: name })),
    };
    const { id } = await make.send('POST', '/integrations', { ...(await fresh(true)), config });
    return { params: { integrationId: id }, body: { objectId, expectedRevision: 1, title: 'x' } };
  };
  const message = (): { raw: string } => ({
    raw: Buffer.from(`From: ${randomUUID()}@example.net\r\n\r\nHelp`).toString('base64'),
  });
  const received = async (): Promise<string> => (await make.send('POST', '/mailboxes/box/messages', message())).id;
  return {
    'mail.receive': {
      call: async () => ({ params: { code: 'box' }, body: message() }),
      lacks: { login: 'nobody', status: 201 },
    },
    'mail.messages': { call: async () => ({}), lacks },
    'mail.retry': {
      call: async () => ({ params: { messageId: await received() } }),
      lacks,
      hidden: {
        seen: async () => ({ params: { messageId: randomUUID() } }),
        absent: async () => ({ params: { messageId: randomUUID() } }),
      },
    },
    'mail.sent': { call: async () => ({}), lacks },
    'mail.send-again': {
      call: async () => ({ params: { mailId: await make.sent() } }),
      lacks,
      hidden: {
        seen: async () => ({ params: { mailId: randomUUID() } }),
        absent: async () => ({ params: { mailId: randomUUID() } }),
      },
    },
    'integrations.list': { call: async () => ({}), lacks },
    'integrations.create': { call: async () => ({ body: await fresh(false) }), lacks },
    'integrations.change': on({
      config: { command: 'object.create', typeDefinitionId: 'thing', mapping: [{ source: 'x', target: 'title' }] },
    }),
    'integrations.enable': on(),
    'integrations.disable': on(),
    'integrations.archive': on(),
    'integrations.restore': on(),
    'integrations.runs': on(),
    'integrations.try': on({ body: { name: 'x' } }),
    'inbound.run': {
      call: async () => ({ params: { integrationId: await made(true) }, body: { name: 'x' } }),
      lacks: { login: 'reader', status: 403, code: 'RIGHT_MISSING', details: { right: 'create' } },
      hidden: {
        seen: async () => await changing(await make.record(false)),
        absent: async () => await changing(randomUUID()),
      },
    },
  };
}
