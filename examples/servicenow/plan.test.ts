/** Planning of the replay from rows of the audit log. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { EventRow } from './data.ts';
import { planIncident, planIncidents, priorityOf, scheduleOf, timeOf } from './plan.ts';

const row = (values: Partial<EventRow>): EventRow => ({
  number: 'INC1',
  incident_state: 'New',
  made_sla: 'true',
  caller_id: 'Caller  1',
  opened_at: '1/3/2016 09:00',
  sys_updated_at: '1/3/2016 09:00',
  category: '?',
  priority: '3 - Moderate',
  assignment_group: 'Group 2',
  ...values,
});

describe('the plan of an incident', () => {
  it('parses valid times and priorities and rejects others', () => {
    assert.equal(new Date(timeOf('29/2/2016 01:16')).toISOString(), '2016-02-29T01:16:00.000Z');
    assert.equal(priorityOf('1 - Critical'), 'p1');
    assert.throws(() => timeOf('2016-02-29 01:16'));
    assert.throws(() => priorityOf('Critical'));
  });

  it('keeps rows that change state or priority and drops the rest', () => {
    const incident = planIncident([
      row({}),
      row({ sys_updated_at: '1/3/2016 09:05', assignment_group: 'Group 3' }),
      row({ sys_updated_at: '1/3/2016 09:10', incident_state: 'Active', priority: '2 - High' }),
      row({ sys_updated_at: '1/3/2016 09:20', incident_state: 'Active', priority: '1 - Critical' }),
      row({
        sys_updated_at: '1/3/2016 09:15',
        incident_state: 'Resolved',
        priority: '1 - Critical',
        made_sla: 'false',
      }),
    ]);
    const at = (minute: number): number => Date.UTC(2016, 2, 1, 9, minute);
    assert.deepEqual(incident, {
      number: 'INC1',
      opened: { at: at(0), priority: 'p3', category: null, caller: 'Caller 1', team: 'Group 2' },
      changes: [
        { at: at(10), state: 'active', priority: 'p2' },
        { at: at(20), priority: 'p1' },
        { at: at(20), state: 'resolved' },
      ],
      madeSla: false,
      priority: 'p1',
    });
  });

  it('opens an incident as new if it begins in another state', () => {
    const incident = planIncident([row({ incident_state: 'Active', sys_updated_at: '1/3/2016 08:30' })]);
    assert.equal(incident.opened.at, Date.UTC(2016, 2, 1, 8, 30));
    assert.deepEqual(incident.changes, [{ at: Date.UTC(2016, 2, 1, 8, 30), state: 'active' }]);
  });

  it('takes whole incidents and orders their steps by time', () => {
    const rows = [
      row({}),
      row({ number: 'INC2', opened_at: '1/3/2016 08:00', sys_updated_at: '1/3/2016 08:00' }),
      row({ incident_state: 'Closed', sys_updated_at: '1/3/2016 10:00' }),
      row({ number: 'INC3' }),
    ];
    assert.deepEqual(
      planIncidents(rows, 2).map((incident) => incident.number),
      ['INC1', 'INC2'],
    );
    const moments = scheduleOf(planIncidents(rows, 9));
    assert.deepEqual(
      moments.map(({ at, happenings }) => [
        new Date(at).getUTCHours(),
        [...happenings.keys()].map((one) => one.number),
      ]),
      [
        [8, ['INC2']],
        [9, ['INC1', 'INC3']],
        [10, ['INC1']],
      ],
    );
  });
});
