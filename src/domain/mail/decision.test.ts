import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { COMMENT_VISIBILITIES, rightForVisibility } from '../../contract/comment-visibility.ts';
import { GLOBAL_RIGHTS, RECORD_ACTIONS, type GlobalRight, type RecordAction } from '../../contract/rights.ts';
import { decide, type Decision, type MailFacts, mustBeProven, type RecordFacts } from './decision.ts';

const [OPEN, HIDDEN] = COMMENT_VISIBILITIES;
const SEES_HIDDEN = rightForVisibility(HIDDEN) as RecordAction;
const REQUESTER: readonly RecordAction[] = ['read', 'comment.create'];
const AGENT: readonly RecordAction[] = [...REQUESTER, 'update', SEES_HIDDEN];

const record = (actions: readonly RecordAction[], more: Partial<RecordFacts> = {}): RecordFacts => ({
  objectId: 'r1',
  archived: false,
  isRequester: false,
  actions: new Set(actions),
  ...more,
});

/** A mail of a requester without a thread. */
const plain: MailFacts = {
  enabled: true,
  unknownSender: 'refuse',
  automatic: null,
  hasSender: true,
  dmarc: 'none',
  sender: { userId: 'u1', active: true, mustBeProven: false, mayCreate: true },
  token: { state: 'none' },
  refers: false,
  record: null,
  answers: null,
  empty: false,
};
const valid = { state: 'valid', objectId: 'r1', userId: 'u1' } as const;
/** A reply of the requester. */
const reply: MailFacts = {
  ...plain,
  token: valid,
  refers: true,
  record: record(REQUESTER, { isRequester: true }),
};
const agent = { userId: 'u1', active: true, mustBeProven: true, mayCreate: true };
const agentReply: MailFacts = { ...reply, sender: agent, dmarc: 'pass', record: record(AGENT) };

const comment = (visibility: string) => ({ kind: 'comment', userId: 'u1', objectId: 'r1', visibility });
const listed = (reason: string) => ({ kind: 'listed', reason });

describe('what a mail becomes', () => {
  const CASES: readonly [string, MailFacts, unknown][] = [
    ['a new mail', plain, { kind: 'record', userId: 'u1' }],
    ['a reply of the requester', reply, comment(OPEN)],
    ['a reply without references', { ...reply, refers: false, answers: 'unknown' }, comment(OPEN)],
    ['a reply of an agent', agentReply, comment(HIDDEN)],
    ['a reply of an agent to a public comment', { ...agentReply, answers: OPEN }, comment(OPEN)],
    [
      'a reply of an agent who is the requester',
      { ...agentReply, record: record(AGENT, { isRequester: true }) },
      comment(OPEN),
    ],
    [
      'a reply without references of an agent who is the requester',
      { ...agentReply, answers: 'unknown', record: record(AGENT, { isRequester: true }) },
      comment(HIDDEN),
    ],
    [
      'a reply of the requester to a hidden comment that they may see',
      {
        ...agentReply,
        answers: HIDDEN,
        record: record(AGENT, { isRequester: true }),
      },
      comment(HIDDEN),
    ],
    [
      'a reply of a watcher without the right to hidden comments',
      { ...reply, record: record(REQUESTER) },
      comment(OPEN),
    ],
    ['a reply to a hidden comment after the right was lost', { ...reply, answers: HIDDEN }, listed('RIGHT_MISSING')],
    ['a disabled mailbox', { ...plain, enabled: false }, listed('MAILBOX_DISABLED')],
    ['a loop', { ...reply, automatic: 'LOOP' }, listed('LOOP')],
    ['an automatic reply', { ...reply, automatic: 'AUTO_REPLY' }, listed('AUTO_REPLY')],
    ['no sender', { ...plain, hasSender: false, sender: null }, listed('SENDER_INVALID')],
    ['an unknown sender', { ...plain, sender: null }, listed('SENDER_UNKNOWN')],
    [
      'an unknown sender where users are created',
      { ...plain, sender: null, unknownSender: 'create' },
      { kind: 'record-of-new-user' },
    ],
    [
      'a forged unknown sender',
      { ...plain, sender: null, unknownSender: 'create', dmarc: 'fail' },
      listed('SENDER_UNKNOWN'),
    ],
    [
      'a stolen token and an unknown sender',
      { ...reply, sender: null, unknownSender: 'create' },
      listed('TOKEN_OF_ANOTHER_USER'),
    ],
    [
      'an archived user',
      { ...plain, sender: { ...agent, active: false }, unknownSender: 'create' },
      listed('SENDER_ARCHIVED'),
    ],
    ['an agent without proof', { ...agentReply, dmarc: 'none' }, listed('SENDER_NOT_PROVEN')],
    ['a forged agent', { ...plain, sender: agent, dmarc: 'fail' }, listed('SENDER_NOT_PROVEN')],
    ['a forged token', { ...reply, token: { state: 'invalid' } }, listed('TOKEN_INVALID')],
    ['an old token', { ...reply, token: { state: 'expired' } }, listed('TOKEN_EXPIRED')],
    ['a token of somebody else', { ...reply, token: { ...valid, userId: 'u2' } }, listed('TOKEN_OF_ANOTHER_USER')],
    ['references without a token', { ...plain, refers: true }, listed('TOKEN_MISSING')],
    ['a record that the sender may not read', { ...reply, record: null }, listed('RECORD_NOT_FOUND')],
    [
      'another record than the token names',
      { ...reply, token: { ...valid, objectId: 'r2' } },
      listed('RECORD_NOT_FOUND'),
    ],
    ['a reader who may not comment', { ...reply, record: record(['read']) }, listed('RIGHT_MISSING')],
    ['an archived record', { ...reply, record: record(REQUESTER, { archived: true }) }, listed('RECORD_ARCHIVED')],
    [
      'a user who may not create records',
      {
        ...plain,
        sender: { ...agent, mustBeProven: false, mayCreate: false },
      },
      listed('RIGHT_MISSING'),
    ],
    ['nothing in it', { ...reply, empty: true }, listed('EMPTY')],
  ];
  for (const [name, facts, expected] of CASES) {
    it(`is decided for ${name}`, () => assert.deepEqual(decide(facts), expected));
  }

  const id = fc.constantFrom('1', '1', '1', '2');
  /** Facts that allow an effect are more frequent, since all of them must hold at once. */
  const mostly = <T>(usual: T, ...others: T[]) => fc.constantFrom(...Array.from({ length: 9 }, () => usual), ...others);
  const yes = mostly(true, false);
  const anyFacts = fc.record({
    enabled: yes,
    unknownSender: fc.constantFrom('refuse', 'create'),
    automatic: mostly(null, 'LOOP', 'BOUNCE', 'AUTO_REPLY', 'BULK_MAIL'),
    hasSender: yes,
    dmarc: fc.constantFrom('pass', 'fail', 'none'),
    sender: fc.option(fc.record({ userId: id, active: yes, mustBeProven: fc.boolean(), mayCreate: yes })),
    token: fc.oneof(
      fc.record({ state: mostly('none', 'invalid', 'expired') }),
      fc.record({ state: fc.constant('valid'), objectId: id, userId: id }),
    ),
    refers: fc.boolean(),
    record: fc.option(
      fc.record({
        objectId: id,
        archived: mostly(false, true),
        isRequester: fc.boolean(),
        actions: fc
          .tuple(fc.subarray([...RECORD_ACTIONS]), fc.boolean())
          .map(([actions, requester]) => new Set([...actions, ...(requester ? REQUESTER : [])])),
      }),
    ),
    answers: fc.option(fc.constantFrom('unknown', ...COMMENT_VISIBILITIES)),
    empty: mostly(false, true),
  }) as fc.Arbitrary<MailFacts>;

  it('never widens rights: an effect has every proof, and is one that the sender could have alone', () => {
    const effects = new Map<string, number>();
    fc.assert(
      fc.property(anyFacts, (facts) => {
        const decision = decide(facts);
        if (decision.kind === 'listed') return;
        effects.set(decision.kind, (effects.get(decision.kind) ?? 0) + 1);
        assert.ok(facts.enabled && facts.automatic === null && facts.hasSender && !facts.empty);
        if (decision.kind === 'record-of-new-user') {
          assert.ok(facts.sender === null && facts.unknownSender === 'create' && facts.token.state === 'none');
          return;
        }
        const { sender, token } = facts;
        assert.ok(sender?.active && decision.userId === sender.userId);
        assert.ok(!sender.mustBeProven || facts.dmarc === 'pass');
        if (decision.kind === 'record') {
          assert.ok(sender.mayCreate && token.state === 'none' && !facts.refers);
          return;
        }
        assert.ok(token.state === 'valid' && token.userId === sender.userId && token.objectId === decision.objectId);
        const { record } = facts;
        assert.ok(record !== null && record.objectId === decision.objectId && !record.archived);
        assert.ok(record.actions.has('read') && record.actions.has('comment.create'));
        const right = rightForVisibility(decision.visibility);
        assert.ok(right === null || record.actions.has(right));
        const { answers } = facts;
        if (answers === 'unknown') assert.ok(decision.visibility === HIDDEN || !record.actions.has(SEES_HIDDEN));
        else if (answers !== null) assert.equal(decision.visibility, answers);
      }),
      { numRuns: 10_000 },
    );
    for (const kind of ['record', 'record-of-new-user', 'comment']) {
      assert.ok((effects.get(kind) ?? 0) > 25, `${effects.get(kind)} of ${kind}`);
    }
  });

  it('is never more after a right or a proof was taken away', () => {
    const worse: ((facts: MailFacts) => MailFacts)[] = [
      (facts) => ({ ...facts, dmarc: facts.dmarc === 'pass' ? 'none' : 'fail' }),
      (facts) => ({ ...facts, sender: facts.sender && { ...facts.sender, active: false } }),
      (facts) => ({ ...facts, sender: facts.sender && { ...facts.sender, mayCreate: false } }),
      (facts) => ({ ...facts, sender: facts.sender && { ...facts.sender, mustBeProven: true } }),
      (facts) => ({ ...facts, unknownSender: 'refuse' }),
      (facts) => ({ ...facts, record: null }),
      ...RECORD_ACTIONS.map((gone) => (facts: MailFacts): MailFacts => {
        const { record } = facts;
        const actions = new Set([...(record?.actions ?? [])].filter((action) => action !== gone));
        return { ...facts, record: record && { ...record, actions } };
      }),
    ];
    const rank = (decision: Decision): number =>
      decision.kind === 'comment' ? 1 + COMMENT_VISIBILITIES.indexOf(decision.visibility) : 1;
    fc.assert(
      fc.property(anyFacts, fc.constantFrom(...worse), (facts, worsen) => {
        const [before, after] = [decide(facts), decide(worsen(facts))];
        if (after.kind === 'listed') return;
        assert.equal(after.kind, before.kind);
        // Losing the right to hidden comments makes a comment of one's own public; it never shows more to its author.
        assert.ok(rank(after) <= rank(before));
      }),
      { numRuns: 10_000 },
    );
  });
});

describe('users whose address must be proven', () => {
  const holds = (rights: GlobalRight[], actions: RecordAction[]) =>
    mustBeProven({ has: (right) => rights.includes(right), mayEver: (_, action) => actions.includes(action) }, ['t1']);

  it('hold a right of administration or of the desk', () => {
    assert.equal(holds(['kb.portal', 'kb.read'], ['read', 'create', 'comment.create', 'attachment.add']), false);
    for (const right of GLOBAL_RIGHTS) {
      assert.equal(holds([right], []), right !== 'kb.portal' && right !== 'kb.read', right);
    }
    for (const action of ['update', 'transition', SEES_HIDDEN] as const) assert.equal(holds([], [action]), true);
    assert.equal(mustBeProven({ has: () => false, mayEver: () => true }, []), false);
  });
});
