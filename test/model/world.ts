/** The configuration that the reference model knows: three record types, a workflow, relations, an SLA policy and rules. */
import { ACTIONS, bundle, RIGHTS, user } from '../support/small-configuration.ts';

/**
 * - chief: all rights.
 * - agent: works on tickets without `secret` and without internal comments, may not write `grade` and `escalated`, lacks the
 *   transition `reopen`; reads parts of kind `a`; administers users, but may not assign roles.
 * - viewer: reads tickets of kind `a`, three fields of them, and comments on them in public.
 */
export const CALLERS = ['chief', 'agent', 'viewer'] as const;
export type Caller = (typeof CALLERS)[number];

export type TypeCode = 'ticket' | 'part' | 'word';
export type StateCode = 'new' | 'work' | 'wait' | 'done';

/** Fields that the agent may read, and those of them that the agent may write. */
export const AGENT_READS =
  'title kind count flag amount day tags note grade owner team unit parts extra run escalated'.split(' ');
export const AGENT_WRITES = AGENT_READS.filter((code) => code !== 'grade' && code !== 'escalated');
export const VIEWER_READS = ['title', 'kind', 'run'];

export interface Transition {
  code: string;
  from: readonly StateCode[];
  to: StateCode;
  /** Codes of the form; true if a value is required. */
  form: Readonly<Record<string, boolean>>;
  /** Values that are set; `me` is the id of the caller. */
  set: (me: string) => Readonly<Record<string, unknown>>;
  /** Whether the transition needs a record of kind `a`. */
  ofKindA: boolean;
}

export const TRANSITIONS: readonly Transition[] = [
  {
    code: 'take',
    from: ['new', 'wait'],
    to: 'work',
    form: { note: false, count: false },
    set: (me) => ({ owner: me }),
    ofKindA: true,
  },
  { code: 'hold', from: ['work'], to: 'wait', form: { $reason: true }, set: () => ({}), ofKindA: false },
  {
    code: 'finish',
    from: ['work'],
    to: 'done',
    form: { count: true, note: false },
    set: () => ({ flag: true }),
    ofKindA: false,
  },
  { code: 'reopen', from: ['work', 'wait', 'done'], to: 'new', form: {}, set: () => ({}), ofKindA: false },
];
export const AGENT_TRANSITIONS = ['take', 'hold', 'finish'];

export interface Definition {
  code: string;
  targets: readonly TypeCode[];
  /** At most one relation for each source, each target. */
  one: { source: boolean; target: boolean };
  acyclic: boolean;
}

export const DEFINITIONS: readonly Definition[] = [
  { code: 'about', targets: ['ticket', 'part'], one: { source: false, target: false }, acyclic: false },
  { code: 'after', targets: ['ticket'], one: { source: false, target: false }, acyclic: true },
  { code: 'twin', targets: ['ticket'], one: { source: true, target: true }, acyclic: false },
  { code: 'splits', targets: ['ticket'], one: { source: false, target: true }, acyclic: false },
  { code: 'made-of', targets: ['part'], one: { source: true, target: false }, acyclic: false },
];

const cardinality = ({ one }: Definition): string => `${one.target ? 'one' : 'many'}-to-${one.source ? 'one' : 'many'}`;

/** Rule `a-refuse` refuses a change after which the tags contain this one, unless the ticket can be finished. */
export const REFUSED_TAG = 'stop';
/** Rule `z-escalate` sets `escalated` from this count on; then rule `b-grade` raises the grade. */
export const ESCALATED_FROM = 500;
export const SLA_TARGET_MS = 3_600_000;

const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];

export const WORLD = bundle(`
settings: { defaultLocale: en-US, timezone: Europe/Berlin }
types:
  - code: ticket
    name: Ticket
    numbering: { prefix: TCK, digits: 6 }
    title: title
    workflow: flow
    fields:
      - { code: title, dataType: string, required: true, constraints: { maxLength: 40 } }
      - { code: kind, dataType: enum, constraints: { options: [{ code: a }, { code: b }] }, search: { filter: true } }
      - { code: count, dataType: integer, constraints: { min: 0, max: 1000 }, search: { filter: true } }
      - { code: flag, dataType: boolean }
      - { code: amount, dataType: decimal }
      - { code: day, dataType: date }
      - { code: tags, dataType: string, multiple: true, search: { filter: true } }
      - { code: note, dataType: text }
      - { code: secret, dataType: string }
      - { code: grade, dataType: enum, default: low, constraints: { options: [{ code: low }, { code: high }] } }
      - { code: owner, dataType: user }
      - { code: team, dataType: group }
      - { code: unit, dataType: org-unit }
      - { code: parts, dataType: reference, multiple: true, constraints: { types: [part] } }
      - { code: extra, dataType: json }
      - { code: run, dataType: string, search: { filter: true } }
      - { code: escalated, dataType: boolean, search: { filter: true } }
  - code: part
    name: Part
    title: title
    fields:
      - { code: title, dataType: string, required: true, constraints: { maxLength: 40 } }
      - { code: kind, dataType: enum, constraints: { options: [{ code: a }, { code: b }] }, search: { filter: true } }
      - { code: run, dataType: string, search: { filter: true } }
  - code: word
    name: Word
    category: dictionary
    title: title
    fields:
      - { code: title, dataType: string, required: true, constraints: { maxLength: 40 } }
      - { code: run, dataType: string, search: { filter: true } }
workflows:
  - code: flow
    name: Flow
    initial: new
    states:
      - { code: new, name: New, category: open }
      - { code: work, name: In work, category: open }
      - { code: wait, name: Waiting, category: waiting }
      - { code: done, name: Done, category: done }
    transitions:
      - { code: take, name: Take, from: [new, wait], to: work, condition: { field: kind, operator: equals, value: a }, fields: [{ code: note }, { code: count }], set: { owner: $me } }
      - { code: hold, name: Hold, from: [work], to: wait, fields: [{ code: $reason, required: true }] }
      - { code: finish, name: Finish, from: [work], to: done, fields: [{ code: count, required: true }, { code: note }], set: { flag: true } }
      - { code: reopen, name: Reopen, from: '*', to: new }
relationDefinitions:
${DEFINITIONS.map((one) => `  - { code: ${one.code}, name: ${one.code}, inverseName: ${one.code}, sourceTypes: [ticket], targetTypes: [${one.targets.join(', ')}], cardinality: ${cardinality(one)}, acyclic: ${one.acyclic} }`).join('\n')}
calendars:
  - { code: always, timezone: Europe/Berlin, week: { ${DAYS.map((day) => `${day}: ['00:00-24:00']`).join(', ')} } }
slaPolicies:
  - code: answer
    name: Answer
    type: ticket
    calendar: always
    targets: [{ duration: PT1H }]
    start: { field: workflowState, operator: in, value: [new, work] }
    pause: { field: workflowState, operator: equals, value: wait }
    stop: { field: workflowState, operator: equals, value: done }
rules:
  - code: a-refuse
    on: [ObjectCreated, ObjectUpdated]
    types: [ticket]
    runAs: chief
    when: { field: tags, operator: contains, value: ${REFUSED_TAG} }
    onError: refuse
    do: [{ transition: finish }]
  - code: b-grade
    on: [ObjectCreated, ObjectUpdated]
    types: [ticket]
    runAs: chief
    when: { field: escalated, operator: equals, value: true }
    do: [{ set: { grade: high } }]
  - code: z-escalate
    on: [ObjectCreated, ObjectUpdated]
    types: [ticket]
    runAs: chief
    when: { field: count, operator: range, value: [${ESCALATED_FROM}, 1000] }
    do: [{ set: { escalated: true } }, { comment: { visibility: internal, body: 'Escalated' } }]
roles:
  - code: chief
    rights: [${RIGHTS}]
    records: [{ type: '*', actions: [${ACTIONS}], fields: { read: '*', write: '*' }, transitions: '*' }]
    assignedTo: { users: [chief] }
  - code: agent
    rights: [user.administer, sla.control]
    records:
      - type: ticket
        actions: [read, create, update, history, transition, comment.create, comment.edit, relation.create, relation.delete]
        fields: { read: [${AGENT_READS.join(', ')}], write: [${AGENT_WRITES.join(', ')}] }
        transitions: [${AGENT_TRANSITIONS.join(', ')}]
      - { type: part, where: { field: kind, operator: equals, value: a }, actions: [read], fields: { read: '*' } }
    assignedTo: { users: [agent] }
  - code: viewer
    records:
      - type: ticket
        where: { field: kind, operator: equals, value: a }
        actions: [read, comment.create]
        fields: { read: [${VIEWER_READS.join(', ')}] }
    assignedTo: { users: [viewer] }
  - code: keeper
    rights: [audit.read]
    assignedTo: { groups: [keepers] }
groups:
  - { code: keepers, name: Keepers }
users:
${CALLERS.map(user).join('')}`);
