/** The configuration of the fault tests: one type that uses everything that writes can affect. */

export const FAULT_CONFIGURATION = `
settings: { defaultLocale: en-US, timezone: UTC }
types:
  - code: thing
    name: Thing
    numbering: { prefix: THG, digits: 6 }
    title: title
    workflow: flow
    fields:
      - { code: title, dataType: string, required: true, search: { filter: true } }
      - { code: tag, dataType: string }
      - { code: note, dataType: text }
      - { code: requester, dataType: user }
workflows:
  - code: flow
    name: Flow
    initial: new
    states:
      - { code: new, name: New, category: open }
      - { code: work, name: In work, category: open }
    transitions:
      - { code: take, name: Take, from: [new], to: work }
      - { code: drop, name: Drop, from: [work], to: new }
relationDefinitions:
  - { code: about, name: Is about, inverseName: Has, sourceTypes: [thing], targetTypes: [thing], cardinality: many-to-many }
calendars:
  - { code: always, timezone: UTC, week: { mon: ['00:00-24:00'], tue: ['00:00-24:00'], wed: ['00:00-24:00'], thu: ['00:00-24:00'], fri: ['00:00-24:00'], sat: ['00:00-24:00'], sun: ['00:00-24:00'] } }
slaPolicies:
  - code: solve
    type: thing
    calendar: always
    targets: [{ duration: PT4H }]
    start: { field: workflowState, operator: equals, value: new }
    stop: { field: workflowState, operator: equals, value: work }
    warnAt: [50]
catalogs:
  - code: shop
    categories: [{ code: all, name: All }]
    items:
      - code: any-thing
        name: Anything
        category: all
        type: thing
        form: [{ code: title, required: true }, { code: tag }]
        requesterField: requester
        audience: { everyone: true }
integrations:
  - code: make
    type: inbound-webhook
    executionPrincipal: alice
    enabled: true
    config: { command: object.create, typeDefinitionId: thing, mapping: [{ source: name, target: title }, { source: tag, target: tag }] }
  - code: alter
    type: inbound-webhook
    executionPrincipal: alice
    enabled: true
    config: { command: object.update, mapping: [{ source: id, target: objectId }, { source: at, target: expectedRevision }, { source: name, target: title }, { source: note, target: note }] }
importDefinitions:
  - code: rows
    name: Rows
    targetKind: object
    targetType: thing
    format: JSON
    mode: UPSERT
    sourceCode: there
    resolver: { externalIdField: ext }
    mapping: [{ source: name, target: title }, { source: ext, target: tag }, { source: note, target: note }]
  - code: titles
    name: Titles
    targetKind: object
    targetType: thing
    format: JSON
    mode: UPSERT
    sourceCode: there
    resolver: { externalIdField: ext }
    mapping: [{ source: name, target: title }, { source: ext, target: tag }]
roles:
  - code: keeper
    rights: [config.manage, role.assign, import.manage, import.execute, integration.manage, catalog.impersonate, webhook.manage]
    records:
      - type: thing
        actions: [read, create, update, archive, history, transition, comment.create, comment.edit, Private Comment, attachment.add, attachment.delete, relation.create, relation.delete]
        fields: { read: '*', write: '*' }
        transitions: '*'
    assignedTo: { users: [alice] }
users:
${Array.from({ length: 10 }, (_, turn) => (turn === 0 ? 'alice' : `other-${turn}`))
  .map((login) => `  - { login: ${login}, displayName: ${login}, email: ${login}@example.org }`)
  .join('\n')}
`;

/** Ids that calls need and that cannot be derived from codes. */
export interface FaultIds {
  alice: string;
  item: string;
  make: string;
  alter: string;
  rows: string;
  titles: string;
  about: string;
  take: string;
  drop: string;
}
