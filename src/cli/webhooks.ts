/** `docket webhooks …` */
import type { Command } from 'commander';
import type { WebhookEvent } from '../contract/events.ts';
import type { AskedSample, TestAnswer } from '../domain/webhooks/index.ts';
import { type Environment, type Json, output } from './command.ts';
import { withTool } from './keys.ts';
import type { ListenOptions } from './listen.ts';
import { onTarget, remoteOf } from './select-target.ts';
import { stopSignals } from './stop-signals.ts';

export function webhookCommands(docket: Command, environment: Environment): void {
  const webhooks = docket.command('webhooks').description('Deliveries of webhooks.');
  webhooks
    .command('redispatch')
    .description('Create the deliveries that docket doctor found missing; existing ones are not repeated.')
    .option('--json', 'print {events}')
    .action(async (options: Json) => {
      const { redispatch } = await import('../domain/webhooks/index.ts');
      const events = await withTool(
        environment,
        () => {},
        (tool) => redispatch(tool.db, tool.clock),
      );
      const line =
        events === 0
          ? 'Every event has its deliveries.'
          : `The deliveries of ${events} events were created; a worker sends them.`;
      output(options.json === true).result({ events }, [line]);
    });
  testCommand(webhooks, environment);
  listenCommand(webhooks, environment);
}

function listenCommand(webhooks: Command, environment: Environment): void {
  webhooks
    .command('listen')
    .description(
      'Forward the events that a key may read to a receiver under development, in requests like those of a webhook, until Ctrl C. Needs --url and a key with objects:read, and for events of comments, files, relations, SLA and articles also their scopes, or with admin:manage.',
    )
    .requiredOption('--forward <url>', 'where to send: https, or http on this machine')
    .option('--types <types>', 'record types, by code or id, separated by commas; all by default')
    .option('--events <events>', 'event types, separated by commas; all by default')
    .option('--secret-file <file>', 'file with the signing secret (whsec_…); by default one is made and shown')
    .option('--json', 'print one line of JSON for the start, each request and the end')
    .action(async (options: ListenOptions, command: Command) => {
      const { forwardProblem, listen } = await import('./listen.ts');
      const problem = forwardProblem(options.forward);
      if (problem !== undefined) command.error(`--forward: ${problem}`, { exitCode: 2 });
      const remote = await remoteOf(environment.inherited, command);
      if (remote === undefined) {
        return command.error('webhooks listen needs --url, or the variable DOCKET_URL', { exitCode: 2 });
      }
      await listen(remote, options, stopSignals.stopGracefully());
    });
}

interface TestOptions extends Json {
  event?: string;
  rule?: string;
  secretFile?: string;
}

function testCommand(webhooks: Command, environment: Environment): void {
  webhooks
    .command('test <target>')
    .description(
      'Send one signed sample delivery and show request and answer. The target is the code or id of a subscription, or a URL, which may be http and needs no service.',
    )
    .option('--event <type>', 'event type of the sample, such as ObjectCreated')
    .option('--rule <code>', 'send the message of this rule, which posts to the subscription, instead of an event')
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
      if (options.rule !== undefined && (isUrl || options.event !== undefined)) {
        const message = isUrl ? '--rule is for a subscription' : 'give either --event or --rule';
        command.error(message, { exitCode: 2 });
      }
      const event = options.event === undefined ? undefined : await webhookEvent(options.event, command);
      const tried = isUrl
        ? await sendToUrl(target, event, options.secretFile ?? '')
        : await onTarget(environment, command, (service) => service.testWebhook(target, sampleOf(event, options.rule)));
      report(tried, options.json === true);
    });
}

async function webhookEvent(text: string, command: Command): Promise<WebhookEvent> {
  const { WEBHOOK_EVENTS } = await import('../contract/events.ts');
  const event = WEBHOOK_EVENTS.find((one) => one === text);
  return event ?? command.error(`--event must be one of ${WEBHOOK_EVENTS.join(', ')}`, { exitCode: 2 });
}

function sampleOf(event: WebhookEvent | undefined, rule: string | undefined): AskedSample {
  return { ...(event === undefined ? {} : { eventType: event }), ...(rule === undefined ? {} : { rule }) };
}

/** Sends to any URL, also to a receiver that is being developed on this machine. */
async function sendToUrl(url: string, event: WebhookEvent | undefined, secretFile: string): Promise<TestAnswer> {
  if (!URL.canParse(url)) throw new Error(`${url} is not a URL.`);
  const { post, readSecret } = await import('./listen.ts');
  const { answerOf, sampleRequest } = await import('../domain/webhooks/index.ts');
  const { systemClock } = await import('../platform/clock.ts');
  const secret = await readSecret(secretFile);
  const request = sampleRequest(event ?? 'ObjectCreated', [secret], systemClock.now());
  return answerOf(url, request, await post(url, request), true);
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
