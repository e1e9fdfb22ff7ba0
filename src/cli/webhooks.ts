/** `docket webhooks …` */
import { readFile } from 'node:fs/promises';
import { type Command, Option } from 'commander';
import { WEBHOOK_EVENTS, type WebhookEvent } from '../contract/events.ts';
import { answerOf, redispatch, type SampleRequest, sampleRequest, type TestAnswer } from '../domain/webhooks/index.ts';
import { systemClock } from '../platform/clock.ts';
import type { Outcome } from '../platform/outbound/outbound.ts';
import { type Environment, type Json, output } from './command.ts';
import { withTool } from './keys.ts';
import { onTarget } from './select-target.ts';

/** Time limit of a request, as for deliveries. */
const LIMIT_MS = 10_000;

export function webhookCommands(docket: Command, environment: Environment): void {
  const webhooks = docket.command('webhooks').description('Deliveries of webhooks.');
  webhooks
    .command('redispatch')
    .description('Create the deliveries that docket doctor found missing; existing ones are not repeated.')
    .option('--json', 'print {events}')
    .action(async (options: Json) => {
      const events = await withTool(
        environment,
        () => {},
        (tool) => redispatch(tool.db),
      );
      const line =
        events === 0 ? 'Every event has its deliveries.' : `${events} events queued for dispatch by a worker.`;
      output(options.json === true).result({ events }, [line]);
    });
  testCommand(webhooks, environment);
}

interface TestOptions extends Json {
  event?: WebhookEvent;
  secretFile?: string;
}

function testCommand(webhooks: Command, environment: Environment): void {
  webhooks
    .command('test <target>')
    .description(
      'Send one signed sample delivery and show request and answer. The target is the code or id of a subscription, or a URL, which may be http and needs no service.',
    )
    .addOption(new Option('--event <type>', 'event type of the sample').choices(WEBHOOK_EVENTS))
    .option('--secret-file <file>', 'file with the signing secret (whsec_…); required for a URL')
    .option('--json', 'print {request, answer, verdict}')
    .action(async (target: string, options: TestOptions, command: Command) => {
      const isUrl = /^https?:\/\//.test(target);
      if (isUrl !== (options.secretFile !== undefined)) {
        const message = isUrl
          ? 'a URL needs --secret-file'
          : '--secret-file is for a URL; a subscription has its own secret';
        command.error(message, { exitCode: 2 });
      }
      const tried = isUrl
        ? await sendToUrl(target, options)
        : await onTarget(environment, command, (service) => service.testWebhook(target, options.event));
      report(tried, options.json === true);
    });
}

/** Sends to any URL, also to a receiver that is being developed on this machine. */
async function sendToUrl(url: string, { event = 'ObjectCreated', secretFile = '' }: TestOptions): Promise<TestAnswer> {
  if (!URL.canParse(url)) throw new Error(`${url} is not a URL.`);
  const secret = (await readFile(secretFile, 'utf8')).trim();
  if (!/^whsec_[\w+/=]+$/.test(secret)) throw new Error(`${secretFile} holds no signing secret (whsec_ and base64).`);
  const request = sampleRequest(event, [secret], systemClock.now());
  return answerOf(url, request, await post(url, request), true);
}

async function post(url: string, { headers, body }: SampleRequest): Promise<Outcome> {
  const began = performance.now();
  const took = (): number => Math.round(performance.now() - began);
  try {
    const signal = AbortSignal.timeout(LIMIT_MS);
    const sent = { method: 'POST', headers, body: new Uint8Array(body), redirect: 'manual', signal } as const;
    const response = await fetch(url, sent);
    const answer = Buffer.from(await response.arrayBuffer());
    const retryAfter = response.headers.get('retry-after') ?? undefined;
    return { kind: 'answered', status: response.status, durationMs: took(), body: answer, retryAfter };
  } catch (error) {
    const { cause, message } = error as Error & { cause?: { code?: string } };
    return { kind: 'failed', reason: `no answer: ${cause?.code ?? message}`, durationMs: took() };
  }
}

const MEANINGS = {
  DELIVERED: 'The receiver accepted the sample.',
  PENDING: 'The receiver did not accept the sample. The service would try again.',
  FAILED: 'The receiver did not accept the sample. The service would not try again.',
} as const;

/** @throws Error if the receiver did not accept the sample */
function report({ request, status, response, error }: TestAnswer, json: boolean): void {
  const { url, headers, body } = request;
  const answered = response === undefined ? `${error}` : `${response.status} after ${response.durationMs} ms`;
  const excerpt = response?.bodyExcerpt ?? '';
  output(json).result({ request, answer: response ?? { error }, verdict: status }, [
    `POST ${url}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    '',
    body,
    '',
    answered,
    ...(excerpt === '' ? [] : [excerpt]),
    ...(status === 'DELIVERED' ? ['', MEANINGS.DELIVERED] : []),
  ]);
  if (status !== 'DELIVERED') throw new Error(MEANINGS[status]);
}
