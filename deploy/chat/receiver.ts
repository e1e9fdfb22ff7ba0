/**
 * Makes incidents of messages in Slack, Mattermost and Telegram, through an inbound integration (docs/how-to/receive-from-chat.md).
 * Chats cannot send the header that Docket asks for, so this program checks what they send instead. It needs Node 26 and no packages.
 *
 * Variables: DOCKET_URL, DOCKET_KEY, INTEGRATION_ID, PORT (8090), and the secret of each chat: SLACK_SIGNING_SECRET,
 * MATTERMOST_TOKEN, TELEGRAM_SECRET. A chat without a secret is not served. Everybody can write to a bot of Telegram, so
 * TELEGRAM_CHATS names the ids of the chats that may create incidents, separated by commas. With COMMENT_INTEGRATION_ID, texts that
 * begin with the number of an incident become comments, from the chats of COMMENT_CHATS alone.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';

const CHATS = ['slack', 'mattermost', 'telegram'] as const;
type Chat = (typeof CHATS)[number];

export interface ReceiverOptions {
  docketUrl: string;
  /** Of a user who may only create incidents, with the scope `integrations:execute`. */
  key: string;
  integrationId: string;
  secrets: Partial<Record<Chat, string | undefined>>;
  /** Ids of the chats of Telegram whose members may create incidents. */
  telegramChats: readonly string[];
  /** The integration that adds comments, and the ids of the chats or channels whose members may write them. */
  comments?: { integrationId: string; chats: readonly string[] };
}

interface Message {
  /** Unique in the chat. The same message makes one incident. */
  id: string;
  /** Id of the chat or channel. */
  place: string;
  user: string;
  text: string;
  /** What the chat takes as an answer. */
  reply(text: string): object;
}

const MOST_BYTES = 1_000_000;
/** Older requests of Slack can be copies. */
const MOST_AGE_S = 300;
const LONGEST_TITLE = 200;
/** Slack and Mattermost wait three seconds for an answer. */
const WAIT_MS = 2500;

function equal(given: unknown, expected: string): boolean {
  const hash = (text: string): Buffer => createHash('sha256').update(text).digest();
  return typeof given === 'string' && timingSafeEqual(hash(given), hash(expected));
}

function isGenuine(chat: Chat, secret: string, { headers }: IncomingMessage, body: Buffer): boolean {
  switch (chat) {
    case 'slack': {
      const sentAt = String(headers['x-slack-request-timestamp']);
      const signature = createHmac('sha256', secret).update(`v0:${sentAt}:`).update(body).digest('hex');
      const isRecent = Math.abs(Date.now() / 1000 - Number(sentAt)) <= MOST_AGE_S;
      return isRecent && equal(headers['x-slack-signature'], `v0=${signature}`);
    }
    case 'mattermost':
      return equal(headers.authorization, `Token ${secret}`);
    case 'telegram':
      return equal(headers['x-telegram-bot-api-secret-token'], secret);
  }
}

/** The text behind the command, such as `/incident`; undefined for messages that make no incident. */
function messageOf({ telegramChats }: ReceiverOptions, chat: Chat, body: string): Message | undefined {
  if (chat !== 'telegram') {
    const form = new URLSearchParams(body);
    return {
      id: form.get('trigger_id') ?? '',
      place: form.get('channel_id') ?? '',
      user: form.get('user_name') ?? '',
      text: form.get('text')?.trim() ?? '',
      reply: (text) => ({ response_type: 'ephemeral', text }),
    };
  }
  const { update_id: id, message } = JSON.parse(body);
  const [, text] = /^\/incident(?:@\w+)?(?:\s+([^]*))?$/.exec(message?.text ?? '') ?? [];
  if (!message?.text?.startsWith('/incident') || !telegramChats.includes(String(message.chat.id))) return undefined;
  return {
    id: String(id),
    place: String(message.chat.id),
    user: message.from?.username ?? message.from?.first_name ?? '',
    text: text?.trim() ?? '',
    reply: (answer) => ({ method: 'sendMessage', chat_id: message.chat.id, text: answer }),
  };
}

/** A text for an incident that exists: its number, then the comment. */
const COMMENT = /^(INC-?\d+):?\s+(\S[^]*)$/i;

/** @returns what to answer in the chat; undefined if Docket cannot be asked now */
async function answerTo(options: ReceiverOptions, chat: Chat, message: Message): Promise<string | undefined> {
  const { id, place, user, text } = message;
  const { comments, integrationId } = options;
  if (text === '') return 'Write what happened after the command.';
  const signature = `${user} (${chat})`;
  const [, number = '', comment = ''] = COMMENT.exec(text) ?? [];
  if (comments === undefined || number === '') {
    const [firstLine = ''] = text.split('\n');
    const title = [...firstLine].slice(0, LONGEST_TITLE).join('');
    const body = { title, text: `${text}\n\n${signature}` };
    return await callDocket(options, integrationId, `${chat} ${id}`, body, (made) => `Created ${made.number}`);
  }
  if (!comments.chats.includes(place)) return 'Comments are not accepted from this chat.';
  const body = { number: number.toUpperCase(), text: `${comment}\n\n${signature}` };
  return await callDocket(options, comments.integrationId, `${chat} ${id}`, body, () => `Added to ${body.number}`);
}

/** Calls an integration. @returns as `answerTo` */
async function callDocket(
  { docketUrl, key }: ReceiverOptions,
  integrationId: string,
  messageId: string,
  body: object,
  done: (data: { number: string }) => string,
): Promise<string | undefined> {
  const answer = await fetch(`${docketUrl}/api/v1/inbound/${integrationId}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      // Ids of chats may be long and have any characters.
      'idempotency-key': createHash('sha256').update(messageId).digest('hex'),
    },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(WAIT_MS),
  }).catch(() => undefined);
  if (answer === undefined || answer.status >= 500 || answer.status === 429) return undefined;
  type Answer = { data: { number: string }; error: { code: string; message: string } };
  const { data, error } = (await answer.json()) as Answer;
  // The first copy of the message is still at work.
  if (!answer.ok && error.code === 'IDEMPOTENCY_IN_PROGRESS') return undefined;
  return answer.ok ? done(data) : `Docket refused the message: ${error.message}`;
}

async function bodyOf(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size <= MOST_BYTES) chunks.push(chunk);
  }
  return size > MOST_BYTES ? undefined : Buffer.concat(chunks);
}

/** The status and the answer for a request of a chat. */
async function take(options: ReceiverOptions, request: IncomingMessage): Promise<[status: number, answer?: object]> {
  const chat = CHATS.find((one) => request.url === `/${one}`);
  const secret = chat === undefined ? undefined : options.secrets[chat];
  if (chat === undefined || secret === undefined || secret === '' || request.method !== 'POST') return [404];
  const body = await bodyOf(request);
  if (body === undefined) return [413];
  if (!isGenuine(chat, secret, request, body)) return [401];
  const message = messageOf(options, chat, body.toString());
  if (message === undefined) return [200];
  if (message.id === '') return [400];
  const answer = await answerTo(options, chat, message);
  if (answer !== undefined) return [200, message.reply(answer)];
  // Telegram sends the update again. The others show the answer to the user.
  return chat === 'telegram'
    ? [503]
    : [200, message.reply('Docket has not answered. Look for the incident before you try again.')];
}

/** A server with a path for each chat: `/slack`, `/mattermost`, `/telegram`. */
export function chatReceiver(options: ReceiverOptions): Server {
  return createServer(async (request, response) => {
    try {
      const [status, answer] = await take(options, request);
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(answer === undefined ? undefined : JSON.stringify(answer));
    } catch {
      response.writeHead(400).end();
    }
  });
}

if (import.meta.main) {
  const { DOCKET_URL, DOCKET_KEY, INTEGRATION_ID, PORT = '8090', ...others } = process.env;
  if (DOCKET_URL === undefined || DOCKET_KEY === undefined || INTEGRATION_ID === undefined) {
    throw new Error('Set DOCKET_URL, DOCKET_KEY and INTEGRATION_ID.');
  }
  const {
    SLACK_SIGNING_SECRET: slack,
    MATTERMOST_TOKEN: mattermost,
    TELEGRAM_SECRET: telegram,
    TELEGRAM_CHATS: chats = '',
    COMMENT_INTEGRATION_ID: commentsId,
    COMMENT_CHATS: commentChats = '',
  } = others;
  const idsOf = (list: string): string[] => list.split(',').map((id) => id.trim());
  const secrets = { slack, mattermost, telegram };
  chatReceiver({
    docketUrl: DOCKET_URL,
    key: DOCKET_KEY,
    integrationId: INTEGRATION_ID,
    secrets,
    telegramChats: idsOf(chats),
    ...(commentsId === undefined ? {} : { comments: { integrationId: commentsId, chats: idsOf(commentChats) } }),
  }).listen(Number(PORT), '127.0.0.1', () => console.log(`Messages of chats are taken at http://127.0.0.1:${PORT}`));
}
