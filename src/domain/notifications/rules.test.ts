/** Who is notified as which kind, mentions, and the times of mails. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MAX_MENTIONS, mentionedLogins } from '../../lib/mentions.ts';
import { type Concern, concerned, mailDueAt, wantedKind, withDefaults } from './rules.ts';

const NOBODY = { users: [], groups: [] };
const members = (group: string): string[] => (group === 'team' ? ['ann', 'bob'] : []);

function told(event: Partial<Concern>): Record<string, string[]> {
  const found = concerned(
    {
      type: 'ObjectUpdated',
      actorId: 'actor',
      changesState: false,
      changed: [],
      assigned: NOBODY,
      assignee: NOBODY,
      requesters: [],
      participants: [],
      mentioned: [],
      told: NOBODY,
      watchers: [],
      ...event,
    },
    members,
  );
  return Object.fromEntries([...found].map(([user, kinds]) => [user, [...kinds]]));
}

describe('who is notified', () => {
  it('tells those whom a rule names, and all members of a group', () => {
    const rule = { users: ['max', 'actor'], groups: ['team'] };
    assert.deepEqual(told({ type: 'RuleNotified', told: rule, watchers: ['eve'] }), {
      max: ['rule'],
      ann: ['rule'],
      bob: ['rule'],
    });
  });

  it('tells the assignee, or the members of the group if there is none', () => {
    assert.deepEqual(told({ assigned: { users: ['ann'], groups: ['team'] } }), { ann: ['assigned'] });
    assert.deepEqual(told({ assigned: { users: [], groups: ['team'] } }), { ann: ['assigned'], bob: ['assigned'] });
    assert.deepEqual(told({ type: 'SlaBreached', assignee: { users: [], groups: ['team'] } }), {
      ann: ['sla'],
      bob: ['sla'],
    });
  });

  it('never tells the actor', () => {
    const everything = { users: ['actor'], groups: [] };
    assert.deepEqual(
      told({
        type: 'CommentAdded',
        assigned: everything,
        assignee: everything,
        requesters: ['actor'],
        mentioned: ['actor'],
        watchers: ['actor'],
      }),
      {},
    );
  });

  it('tells of comments when they are added or become visible, of mentions also after an edit', () => {
    const people = {
      assignee: { users: ['ann'], groups: [] },
      requesters: ['rita'],
      mentioned: ['max'],
      watchers: ['wim'],
    };
    const all = { rita: ['comment'], ann: ['comment'], max: ['mention'], wim: ['watch'] };
    assert.deepEqual(told({ ...people, type: 'CommentAdded' }), all);
    assert.deepEqual(told({ ...people, type: 'CommentUpdated', changed: ['visibility'] }), all);
    assert.deepEqual(told({ ...people, type: 'CommentUpdated', changed: ['body'] }), { max: ['mention'] });
    assert.deepEqual(told({ ...people, type: 'CommentArchived' }), {});
  });

  it('tells requesters of states, except that of a new record', () => {
    const state = { requesters: ['rita'], changesState: true };
    assert.deepEqual(told({ ...state, type: 'ObjectTransitioned' }), { rita: ['state'] });
    assert.deepEqual(told({ ...state, type: 'ObjectCreated' }), {});
  });

  it('chooses one kind that the user wants', () => {
    const kinds = new Set(['watch', 'comment'] as const);
    assert.equal(wantedKind(kinds, withDefaults({})), 'comment');
    assert.equal(wantedKind(kinds, withDefaults({ comment: { console: false, mail: 'never' } })), 'watch');
    assert.equal(wantedKind(kinds, withDefaults({ comment: { console: false, mail: 'digest' } })), 'comment');
    assert.equal(wantedKind(new Set(['watch']), withDefaults({ watch: { console: false, mail: 'never' } })), undefined);
  });
});

describe('mentions', () => {
  it('are logins after an @ at the beginning of a word', () => {
    assert.deepEqual(mentionedLogins('@ann, see (@bob.b) and @ann. Mail x@example.org, @@no'), ['ann', 'bob.b']);
    assert.deepEqual(mentionedLogins('Спасибо, @иван.петров!'), ['иван.петров']);
    assert.deepEqual(mentionedLogins('nobody'), []);
    const everybody = Array.from({ length: 10_000 }, (_, index) => `@u${index}`).join(' ');
    assert.equal(mentionedLogins(everybody).length, MAX_MENTIONS);
  });
});

describe('the time of a mail', () => {
  const night = { from: '22:00', to: '07:30' };

  it('is at once, or the end of the quiet hours in the time zone of the user', () => {
    const at = (now: string, quiet: typeof night | null, timezone = 'Europe/Moscow'): string =>
      mailDueAt(now, 'now', { timezone, quiet });
    assert.equal(at('2026-11-23T10:00:00.000Z', night), '2026-11-23T10:00:00.000Z');
    assert.equal(at('2026-11-23T20:00:00.000Z', night), '2026-11-24T04:30:00.000Z');
    assert.equal(at('2026-11-23T02:00:00.000Z', night), '2026-11-23T04:30:00.000Z');
    assert.equal(at('2026-11-23T20:00:00.000Z', null), '2026-11-23T20:00:00.000Z');
    assert.equal(at('2026-11-23T04:30:00.000Z', night), '2026-11-23T04:30:00.000Z', 'the end is not quiet');
    assert.equal(at('2026-11-23T09:30:00.000Z', { from: '12:00', to: '13:00' }), '2026-11-23T10:00:00.000Z');
  });

  it('follows daylight saving time', () => {
    const berlin = { timezone: 'Europe/Berlin', quiet: { from: '22:00', to: '02:30' } };
    // On this night the clocks go from 02:00 to 03:00.
    assert.equal(mailDueAt('2026-03-28T23:00:00.000Z', 'now', berlin), '2026-03-29T01:30:00.000Z');
  });

  it('of a digest is once a day', () => {
    const digest = (now: string, quiet: typeof night | null): string =>
      mailDueAt(now, 'digest', { timezone: 'UTC', quiet });
    assert.equal(digest('2026-11-23T10:00:00.000Z', null), '2026-11-24T08:00:00.000Z');
    assert.equal(digest('2026-11-23T07:00:00.000Z', null), '2026-11-23T08:00:00.000Z');
    assert.equal(digest('2026-11-23T10:00:00.000Z', night), '2026-11-24T07:30:00.000Z');
  });
});
