/** Messages by their sender: proven and forged ones, automatic mail, and replies with tokens. */
import { BOX, contentCases, file, mail, type MailCase, multipart, type Parts, plain } from './mail-messages.ts';

/** Addresses with a token for replies, by whom the token was sent to. */
export interface Tokens {
  anna: string;
  bob: string;
  agent: string;
  expired: string;
  /** Signed with another key. */
  forged: string;
}

const PASS = 'Authentication-Results: mx.example.org; dmarc=pass header.from=example.com';

function senders(): MailCase[] {
  const from = (given: string, reason?: string, headers: string[] = []): MailCase => ({
    name: `From: ${given}${headers.length === 0 ? '' : `, ${headers.join(', ')}`}`.replaceAll('\r\n', ' '),
    raw: mail({ from: given, headers }),
    ...(reason === undefined ? {} : { reason }),
  });
  const agent = 'Agent <agent@example.com>';
  const other = PASS.replace('mx.example.org', 'mx.evil.net');
  return [
    from('anna@example.com'),
    from('ANNA@Example.COM'),
    from('"Anna, the boss" <anna@example.com>'),
    from('=?utf-8?B?0JDQvdC90LA=?= <anna@example.com>'),
    from('anna@example.com (Anna)'),
    from('eve@evil.net', 'SENDER_UNKNOWN'),
    from('"anna@example.com" <eve@evil.net>', 'SENDER_UNKNOWN'),
    from('anna@example.com <eve@evil.net>', 'SENDER_UNKNOWN'),
    from('anna@example.com, agent@example.com', 'SENDER_INVALID'),
    from('Team: anna@example.com, bob@example.com;', 'SENDER_INVALID'),
    from('Anna', 'SENDER_INVALID'),
    from('', 'SENDER_INVALID'),
    from('<>', 'SENDER_INVALID'),
    from('gone@example.com', 'SENDER_ARCHIVED'),
    from('nobody@example.com', 'RIGHT_MISSING'),
    from(agent, 'SENDER_NOT_PROVEN'),
    from(agent, undefined, [PASS]),
    from(agent, undefined, [PASS.replace('header.from', '(p=reject) header.from')]),
    from(agent, 'SENDER_NOT_PROVEN', [other]),
    from(agent, 'SENDER_NOT_PROVEN', [PASS.replace('=pass', '=fail')]),
    from(agent, 'SENDER_NOT_PROVEN', [PASS.replace('=pass', '=none')]),
    from(agent, 'SENDER_NOT_PROVEN', [PASS.replace('example.com', 'evil.net')]),
    from(agent, 'SENDER_NOT_PROVEN', [PASS.replace('dmarc=pass', 'spf=pass; dkim=pass')]),
    from(agent, 'SENDER_NOT_PROVEN', [PASS.replace('=pass', '=fail'), PASS]),
    from(agent, 'SENDER_NOT_PROVEN', ['Authentication-Results: mx.example.org; none', 'Received: by x', PASS]),
    from(agent, 'SENDER_NOT_PROVEN', [PASS.replace('; dmarc', '; spf=pass (dmarc')]),
    from(agent, 'SENDER_INVALID', [PASS, 'From: anna@example.com']),
    from('boss@example.com', 'SENDER_NOT_PROVEN'),
    from('boss@example.com', undefined, [PASS]),
  ];
}

function automatic(): MailCase[] {
  const by = (reason: string, headers: string[], more: Parts = {}): MailCase => ({
    name: `${reason}: ${headers.join(', ')} ${JSON.stringify(more).slice(0, 80)}`,
    raw: mail({ headers, ...more }),
    reason,
  });
  return [
    by('AUTO_REPLY', ['Auto-Submitted: auto-replied']),
    by('AUTO_REPLY', ['Auto-Submitted: auto-generated']),
    by('AUTO_REPLY', ['X-Autoreply: yes']),
    by('AUTO_REPLY', ['X-Autorespond: yes']),
    by('AUTO_REPLY', ['Precedence: auto_reply']),
    by('AUTO_REPLY', [], { subject: 'Out of Office: Help' }),
    by('AUTO_REPLY', [], { subject: '=?utf-8?B?0JDQstGC0L7QvtGC0LLQtdGCOiBIZWxw?=' }),
    by('BULK_MAIL', ['Precedence: bulk']),
    by('BULK_MAIL', ['Precedence: junk']),
    by('BOUNCE', ['Return-Path: <>']),
    by('BOUNCE', ['X-Failed-Recipients: anna@example.com']),
    by('BOUNCE', [], { from: 'MAILER-DAEMON@example.com', subject: 'Undelivered Mail Returned to Sender' }),
    by('BOUNCE', [], {
      type: 'Content-Type: multipart/report; report-type=delivery-status; boundary=x',
      body: '--x--',
    }),
    by('BOUNCE', [], {
      type: 'Content-Type: multipart/report; report-type=disposition-notification; boundary=x',
      body: '--x--',
    }),
    by('LOOP', [], { from: BOX }),
    by('LOOP', [], { from: 'support+x@example.org' }),
    by('LOOP', ['List-Id: <incident.docket.example.org>']),
    by(
      'LOOP',
      Array.from({ length: 60 }, () => 'Received: by loop.example.org'),
    ),
    by('LOOP', ['Message-ID: <docket.01900000-0000-7000-8000-000000000001.several@example.org>']),
    { name: 'Auto-Submitted: no', raw: mail({ headers: ['Auto-Submitted: no'] }) },
    { name: 'mail of a list', raw: mail({ headers: ['List-Id: <it.lists.example.com>', 'Precedence: list'] }) },
  ];
}

function replies(tokens: Tokens): MailCase[] {
  const agent = 'agent@example.com';
  const gmail = 'Yes.\r\n\r\nOn Mon, Nov 23, 2026 at 10:00 AM Support <support@example.org> wrote:\r\n> Fixed?';
  const refers = 'References: <docket.thread.01900000-0000-7000-8000-00000000000a@example.org>';
  const of = (name: string, more: Parts, expected: Partial<MailCase>): MailCase => ({
    name,
    raw: mail(more),
    ...expected,
  });
  return [
    of(
      'a reply of the requester',
      { to: tokens.anna, body: gmail },
      { visibility: 'public', text: 'Yes.', not: 'Fixed?' },
    ),
    of(
      'a reply with a file',
      { to: tokens.anna, ...multipart('mixed', plain('See'), file('filename="r.pdf"')) },
      { visibility: 'public', text: 'See', files: ['r.pdf'] },
    ),
    of('a reply in capital letters of the address', { to: tokens.anna.toUpperCase() }, { visibility: 'public' }),
    of('a reply with the token in Cc', { headers: [`Cc: ${tokens.anna}`] }, { visibility: 'public' }),
    of(
      'a reply with the token in Delivered-To',
      { headers: [`Delivered-To: ${tokens.anna}`] },
      { visibility: 'public' },
    ),
    of('a reply of an agent', { from: agent, to: tokens.agent, headers: [PASS] }, { visibility: 'internal' }),
    of('a forged reply of an agent', { from: agent, to: tokens.agent }, { reason: 'SENDER_NOT_PROVEN' }),
    of('a stolen token', { from: 'bob@example.com', to: tokens.anna }, { reason: 'TOKEN_OF_ANOTHER_USER' }),
    of('a stolen token of an agent', { to: tokens.agent }, { reason: 'TOKEN_OF_ANOTHER_USER' }),
    of('a token stolen by a stranger', { from: 'eve@evil.net', to: tokens.anna }, { reason: 'TOKEN_OF_ANOTHER_USER' }),
    of('a reply about a hidden record', { from: 'bob@example.com', to: tokens.bob }, { reason: 'RECORD_NOT_FOUND' }),
    of('an expired token', { to: tokens.expired }, { reason: 'TOKEN_EXPIRED' }),
    of('a token with another key', { to: tokens.forged }, { reason: 'TOKEN_INVALID' }),
    of('a malformed token', { to: 'support+abc@example.org' }, { reason: 'TOKEN_INVALID' }),
    of('two tokens', { to: `${tokens.anna}, ${tokens.bob}` }, { reason: 'TOKEN_INVALID' }),
    of('references without a token', { headers: [refers] }, { reason: 'TOKEN_MISSING' }),
    of('a reply without text', { to: tokens.anna, body: '  ' }, { reason: 'EMPTY' }),
    of(
      'an automatic reply to our mail',
      { to: tokens.anna, headers: ['Auto-Submitted: auto-replied'] },
      { reason: 'AUTO_REPLY' },
    ),
  ];
}

/** About 200 messages to the mailbox `support@example.org`, which trusts `mx.example.org`. */
export function mailCases(tokens: Tokens): MailCase[] {
  return [...contentCases(), ...senders(), ...automatic(), ...replies(tokens)];
}
