/** The address of the mail server (`DOCKET_SMTP_URL`), and what the result of an attempt means for a mail. Pure. */

export interface SmtpServer {
  host: string;
  port: number;
  /** TLS from the start. */
  secure: boolean;
  /** STARTTLS, without which nothing is sent. */
  requireTLS: boolean;
  auth?: { user: string; pass: string };
}

/**
 * Reads `smtps://user:password@host:465` (TLS from the start) or `smtp://host:587` (STARTTLS, which is required). Only
 * `smtp://host:25?tls=off` sends without encryption, for a server on the same machine; it takes no password.
 *
 * @throws Error with a sentence that does not contain the address
 */
export function readSmtpUrl(text: string): SmtpServer {
  const url = URL.parse(text);
  if (url === null || !['smtp:', 'smtps:'].includes(url.protocol) || url.hostname === '') {
    throw new Error('It is not an address such as smtps://user:password@mail.example.org.');
  }
  const unknown = [...url.searchParams].find(([name, value]) => name !== 'tls' || value !== 'off');
  if (unknown !== undefined || !['', '/'].includes(url.pathname) || url.hash !== '') {
    throw new Error('The address has an unknown part. Only ?tls=off can follow the host and port.');
  }
  const secure = url.protocol === 'smtps:';
  const plain = url.searchParams.has('tls');
  const hasPassword = url.username !== '' || url.password !== '';
  if (plain && (secure || hasPassword)) {
    throw new Error('?tls=off is possible only with smtp:// and without a user name and password.');
  }
  const port = url.port === '' ? (secure ? 465 : 587) : Number(url.port);
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port,
    secure,
    requireTLS: !secure && !plain,
    ...(hasPassword ? { auth: { user: decoded(url.username), pass: decoded(url.password) } } : {}),
  };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new Error('The user name or password has a "%" that is not followed by two hexadecimal digits.');
  }
}

/**
 * The result of an attempt: `accepted` by the server, `refused` with a reply code of SMTP, or `failed` before a reply, for
 * example because the connection broke.
 */
export type SendOutcome = { kind: 'accepted' } | { kind: 'refused'; replyCode: number } | { kind: 'failed' };

export type SendVerdict = { status: 'SENT' | 'FAILED' } | { status: 'PENDING'; delayMs: number };

const FIRST_DELAY_MS = 60_000;
const LONGEST_DELAY_MS = 4 * 3_600_000;
/** RFC 5321 recommends to give up after four to five days. A notification that is older than two helps nobody. */
const GIVE_UP_MS = 48 * 3_600_000;

/**
 * Whether a mail was sent, will be tried again, or failed for good. A reply code from 500 on is final, all other trouble is not.
 *
 * @param attempt number of this attempt, from 1
 * @param ageMs time since the mail was due
 */
export function verdictOf(outcome: SendOutcome, attempt: number, ageMs: number): SendVerdict {
  if (outcome.kind === 'accepted') return { status: 'SENT' };
  if (outcome.kind === 'refused' && outcome.replyCode >= 500) return { status: 'FAILED' };
  const delayMs = Math.min(FIRST_DELAY_MS * 2 ** Math.min(attempt - 1, 30), LONGEST_DELAY_MS);
  return ageMs + delayMs > GIVE_UP_MS ? { status: 'FAILED' } : { status: 'PENDING', delayMs };
}
