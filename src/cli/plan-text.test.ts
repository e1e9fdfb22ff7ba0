import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PlannedChange } from '../configuration/engine.ts';
import { impactMarkdown } from './impact-text.ts';
import { planLines, planMarkdown } from './plan-text.ts';

const change = (more: Partial<PlannedChange>): PlannedChange => ({
  section: 'types',
  code: 'incident',
  id: null,
  action: 'change',
  differences: [],
  moreDifferences: 0,
  ...more,
});

const EN = { language: 'en' };

describe('the text of a plan', () => {
  it('shows added, removed and changed values, escaped and in bounded length', () => {
    const lines = planLines([
      change({
        code: 'in\u001b[2Jcident',
        differences: [
          { path: 'name', before: 'A\u202eB', after: 'x'.repeat(1000) },
          { path: 'fields[a]', after: { code: 'a' } },
          { path: 'fields[b]', before: { code: 'b' } },
        ],
        moreDifferences: 2,
      }),
      change({ action: 'leave' }),
    ]);
    assert.equal(lines[0], 'change   types/in\\u001b[2Jcident');
    assert.equal(lines[1], '           2 more differences');
    assert.match(lines[2] ?? '', /^ {9}~ name: "A\\u202eB" → "x{299}… \(1002 characters\)$/);
    assert.deepEqual(lines.slice(3), [
      '         + fields[a]: {"code":"a"}',
      '         - fields[b]: {"code":"b"}',
      'Would apply 1 changes; 1 unchanged.',
    ]);
  });

  it('shows long values around their first difference', () => {
    const roles = Array.from({ length: 200 }, (_, index) => `role-${index}`);
    const [line] = planLines([
      change({ differences: [{ path: 'roles', before: roles, after: roles.with(150, 'other') }] }),
    ]).slice(1);
    assert.match(
      line ?? '',
      /^ {9}~ roles: ….*"role-150".*… \(\d+ characters\) → ….*"role-149","other","role-151".*… \(/,
    );
    assert.ok((line ?? '').length < 700);
  });

  it('colours the action and each difference on request', () => {
    const lines = planLines([change({ differences: [{ path: 'a', before: 1, after: 2 }] })], { color: true });
    assert.equal(lines[0], '\u001b[33mchange  \u001b[0m types/incident');
    assert.equal(lines[1], '         \u001b[33m~ a: 1 → 2\u001b[0m');
  });

  it('is Markdown in which no value is markup, at most as long as a comment may be', () => {
    const hostile = '````\n@everyone <script> | **x**';
    const text = planMarkdown([change({ code: '`', differences: [{ path: 'name', before: hostile, after: 1 }] })], EN);
    assert.match(text, /^### Docket: 1 changes; 0 unchanged\n\*\*change\*\* `` types\/` ``\n\n`{5}diff\n- name: "/);
    assert.ok(text.endsWith('\n+ name: 1\n`````'));
    const many = planMarkdown(
      Array.from({ length: 1000 }, (_, index) =>
        change({ code: `t${index}`, differences: [{ path: 'name', after: 'y'.repeat(250) }] }),
      ),
      EN,
    );
    assert.ok(many.length < 61_000);
    const field = { type: 't', access: 'read' as const, change: 'lost' as const, records: 0, examples: [] };
    const roles = Array.from({ length: 500 }, (_, index) => ({
      role: `r${index}`,
      records: [],
      fields: Array.from({ length: 50 }, (_, at) => ({ ...field, field: `field${at}` })),
    }));
    const totals = { 'lost-access': 1, 'gained-access': 0, 'invalid-records': 0, 'sla-breached': 0, broken: 0 };
    const none = { people: [], affectedPeople: 0, constraints: [], states: [], sla: [], broken: [] };
    const sums = { complete: true, exact: true, errorBound: 0, totals, totalErrors: totals };
    const impact = impactMarkdown({ ...none, ...sums, roles });
    assert.match(impact, /\n\d+ more lines; run docket plan --impact to see them\.\nImpact: lost-access 1, /);
    const both = planMarkdown(
      Array.from({ length: 1000 }, (_, index) => change({ code: `t${index}` })),
      { ...EN, more: [impact] },
    );
    assert.ok(impact.length < 26_000 && both.length < 61_000);
    assert.match(many, /\n\d+ more items are not shown\. Run `docket plan` to see them\.$/);
  });
});
