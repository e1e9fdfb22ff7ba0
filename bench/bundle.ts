/** The configuration that is measured: a type of twelve fields, and a role with a row condition and field rights. */
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { AREAS, PRIORITIES, VISIBLE_AREAS } from './corpus.ts';

/** The user whose rights the key of the load has. */
export const OWNER = 'bench';
/** A user with many roles, each with its own row condition; its key is used by the scenario of many roles. */
export const OWNER_OF_ROLES = 'many-roles';
export const KEY_OWNERS = [OWNER, OWNER_OF_ROLES];
export const MANY_ROLES = 200;
/** Number of users besides the owner: `person-1` and so on. */
export const PEOPLE = 50;
/** The catalogue item that is requested on behalf of one of the users. */
export const CATALOG_ITEM = 'ticket';
/** Filterable fields. Each has an index that every write must update. */
export const INDEXED_FIELDS = 3;
export const NUMBER_PREFIX = 'TCK';
export const NUMBER_DIGITS = 7;

function options(codes: readonly string[]): string {
  return `{ options: [${codes.map((code) => `{ code: ${code} }`).join(', ')}] }`;
}

const persons = Array.from({ length: PEOPLE }, (_, index) => `person-${index + 1}`);

const users = [
  ...KEY_OWNERS.map((login) => `  - { login: ${login}, displayName: ${login}, email: ${login}@example.org }`),
  ...persons.map(
    (login, index) => `  - { login: ${login}, displayName: Person ${index + 1}, email: ${login}@example.org }`,
  ),
].join('\n');

const manyRoles = Array.from(
  { length: MANY_ROLES },
  (_, index) => `  - code: team-${index}
    name: Team ${index}
    records:
      - type: ticket
        where: { field: effort, operator: equals, value: ${index} }
        actions: [read]
        fields: { read: [title, description, priority, area, assignee, effort, due, startedAt, urgent, tags, asset], write: [] }
    assignedTo: { users: [${OWNER_OF_ROLES}] }`,
).join('\n');

const BUNDLE = `
settings: { defaultLocale: en-US, timezone: UTC }

types:
  - code: asset
    name: Asset
    category: dictionary
    title: title
    fields:
      - { code: title, dataType: string, required: true }
  - code: ticket
    name: Ticket
    category: object
    numbering: { prefix: ${NUMBER_PREFIX}, digits: ${NUMBER_DIGITS} }
    title: title
    workflow: ticket
    fields:
      - { code: title, dataType: string, required: true, constraints: { maxLength: 200 } }
      - { code: description, dataType: text }
      - { code: priority, dataType: enum, default: p3, constraints: ${options(PRIORITIES)}, search: { filter: true, facet: true } }
      - { code: area, dataType: enum, required: true, constraints: ${options(AREAS)}, search: { filter: true } }
      - { code: assignee, dataType: user, search: { filter: true } }
      - { code: effort, dataType: integer }
      - { code: cost, dataType: decimal }
      - { code: due, dataType: date }
      - { code: startedAt, dataType: datetime }
      - { code: urgent, dataType: boolean }
      - { code: tags, dataType: string, multiple: true }
      - { code: asset, dataType: reference, constraints: { types: [asset] } }

workflows:
  - code: ticket
    name: Ticket
    initial: new
    states:
      - { code: new, name: New, category: open }
      - { code: doing, name: Doing, category: open }
      - { code: done, name: Done, category: done }
    transitions:
      - { code: take, name: Take, from: [new], to: doing }
      - { code: give-back, name: Give back, from: [doing], to: new }
      - { code: finish, name: Finish, from: [doing], to: done }

relationDefinitions:
  - { code: concerns, name: Concerns, inverseName: Concerned by, sourceTypes: [ticket], targetTypes: [ticket], cardinality: many-to-many, acyclic: false, active: true }
catalogs:
  - code: shop
    categories: [{ code: all }]
    items:
      - code: ${CATALOG_ITEM}
        category: all
        type: ticket
        form: [{ code: title, required: true }, { code: description }, { code: area, required: true }, { code: effort }, { code: due }, { code: asset }]
        requesterField: assignee
        set: { priority: p3, startedAt: $now }
        audience: { everyone: true }

roles:
  - code: asker
    name: Asker
    records:
      - type: asset
        actions: [read]
        fields: { read: '*', write: [] }
      - type: ticket
        where: { field: assignee, operator: equals, value: $me }
        actions: [read, create]
        fields:
          read: [title, description, area, assignee, effort, due, asset]
          write: [title, description, area, effort, due, asset]
    assignedTo: { users: [${persons.join(', ')}] }
  - code: bench
    name: Bench
    rights: [catalog.impersonate, user.administer]
    records:
      - type: asset
        actions: [read]
        fields: { read: '*', write: [] }
      - type: ticket
        where:
          logic: OR
          conditions:
            - { field: area, operator: in, value: [${VISIBLE_AREAS.join(', ')}] }
            - { field: assignee, operator: equals, value: $me }
        actions: [read, create, update, history, transition, comment.create, attachment.add, relation.create]
        fields:
          read: [title, description, priority, area, assignee, effort, due, startedAt, urgent, tags, asset]
          write: [title, description, priority, area, assignee, effort, due, startedAt, tags, asset]
        transitions: '*'
    assignedTo: { users: [${OWNER}] }
${manyRoles}

users:
${users}
`;

/** Writes the bundle into a new folder under `folder`. @returns that folder */
export async function writeBundle(folder: string): Promise<string> {
  const place = path.join(folder, 'bundle');
  await mkdir(place, { recursive: true });
  await writeFile(path.join(place, 'bench.yaml'), BUNDLE);
  return place;
}
