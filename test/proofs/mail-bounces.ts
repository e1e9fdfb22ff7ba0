/** Bounces as mail servers write them. */
import { mail, multipart, plain } from '../support/mail-messages.ts';

export interface BounceParts {
  /** `Message-ID` of the mail that came back, with its angle brackets. */
  about: string;
  recipient: string;
  action?: string;
  status?: string;
  diagnostic?: string;
  /** The mailbox to which the bounce goes. */
  to?: string;
}

/** A report of RFC 3464, as Postfix writes it. */
export function bounce({
  about,
  recipient,
  action = 'failed',
  status = '5.1.1',
  diagnostic = `550 5.1.1 <${recipient}>: Recipient address rejected`,
  to,
}: BounceParts): Buffer {
  const report = [
    'Content-Description: Delivery report',
    'Content-Type: message/delivery-status',
    '',
    'Reporting-MTA: dns; mx.example.com',
    'Arrival-Date: Mon, 23 Nov 2026 10:00:00 +0000 (UTC)',
    '',
    `Final-Recipient: rfc822; ${recipient}`,
    `Original-Recipient: rfc822;${recipient}`,
    `Action: ${action}`,
    `Status: ${status}`,
    `Diagnostic-Code: smtp; ${diagnostic}`,
    '',
  ].join('\r\n');
  const returned = `Content-Type: message/rfc822\r\n\r\nFrom: support@example.org\r\nMessage-ID: ${about}\r\nSubject: Mail\r\n\r\nText`;
  const { type = '', body = '' } = multipart('report', plain('Your mail was not delivered.'), report, returned);
  return mail({
    from: 'Mail Delivery System <MAILER-DAEMON@mx.example.com>',
    ...(to === undefined ? {} : { to }),
    subject: 'Undelivered Mail Returned to Sender',
    headers: ['Return-Path: <>', 'Auto-Submitted: auto-replied'],
    type: type.replace('multipart/report;', 'multipart/report; report-type=delivery-status;'),
    body,
  });
}

/** A notice of Exim without a report. */
export function eximNotice({ about, recipient }: Pick<BounceParts, 'about' | 'recipient'>): Buffer {
  return mail({
    from: 'Mail Delivery System <Mailer-Daemon@mx.example.com>',
    subject: 'Mail delivery failed: returning message to sender',
    headers: [`X-Failed-Recipients: ${recipient}`, 'Auto-Submitted: auto-replied'],
    body: `This message was created automatically by mail delivery software.\r\n\r\n  ${recipient}\r\n    550 Unknown user\r\n\r\n------ This is a copy of the message, including all the headers. ------\r\n\r\nMessage-ID: ${about}\r\nSubject: Mail\r\n\r\nText`,
  });
}
