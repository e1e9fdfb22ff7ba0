/** What the result of an attempt to send means for a mail. Pure. */

/**
 * The result of an attempt: `accepted` by the server, `refused` with a reply code of SMTP, or `failed` before a reply, for
 * example because the connection broke.
 */
export type SendOutcome = { kind: 'accepted' } | { kind: 'refused'; replyCode: number } | { kind: 'failed' };

export type SendVerdict = { status: 'SENT' | 'FAILED' } | { status: 'PENDING'; delayMs: number };

const FIRST_DELAY_MS = 60_000;
const LONGEST_DELAY_MS = 4 * 3_600_000;
/** RFC 5321 recommends to give up after four to five days, but a notification is of no use after two. */
const GIVE_UP_MS = 48 * 3_600_000;

/** Whether a mail that was not tried for so long is not sent any more. @param ageMs time since it was due */
export function isTooOld(ageMs: number): boolean {
  return ageMs > GIVE_UP_MS;
}

/**
 * Whether a mail was sent, will be retried, or failed for good. Only a reply code of 500 or more is final.
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
