/** Ties a received bounce to the sent mail that it is about. */
import type { WriteContext } from '../../platform/unit-of-work/context.ts';
import { storedLine } from './content.ts';
import type { DeliveryReport } from './delivery-report.ts';
import { addressKey } from './headers.ts';
import type { Mailbox } from './registry.ts';
import { findSentAddress, insertBounce } from './store-outgoing.ts';
import { readMessageId } from './threading.ts';

const LONGEST_ERROR = 500;

/**
 * Finds the mail that was sent from this mailbox to a recipient of the report, and plans that it came back if the failure is
 * permanent. Everybody who has read the mail can forge this, so it changes only what the log says about the mail.
 *
 * @returns the id of the mail; null if there is no such mail
 */
export async function planBounce(
  ctx: WriteContext,
  mailbox: Mailbox,
  report: DeliveryReport | null,
): Promise<string | null> {
  const [mailId] = report?.messageIds.flatMap((id) => readMessageId(id, mailbox.address)?.mailId ?? []) ?? [];
  if (report === null || mailId === undefined) return null;
  const address = await findSentAddress(ctx, mailId, mailbox.id);
  if (address === undefined) return null;
  const recipient = report.recipients.find(({ addresses }) => addresses.includes(addressKey(address)));
  if (recipient === undefined) return null;
  const error = storedLine(recipient.text, LONGEST_ERROR) || 'The bounce gives no reason.';
  if (recipient.isPermanent) ctx.plan(insertBounce, { mailId, at: ctx.now, error });
  return mailId;
}
