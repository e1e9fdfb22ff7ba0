/** The configuration of the search benchmark: a type with texts, and users with different record and field rights. */
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';

/** The user who searches: reads three of four records and not all fields. */
export const READER = 'reader';
/** A user who reads only the few records that they created. */
export const REQUESTER = 'requester';
/** The user who loads data: reads everything. */
export const WRITER = 'writer';
export const AREAS = ['north', 'south', 'east', 'west'] as const;
export const PRIORITIES = ['p1', 'p2', 'p3', 'p4'] as const;
const VISIBLE_AREAS = AREAS.slice(0, 3);
/** Indexes of the type: two filterable fields, the creator, and the states. */
export const INDEXED_FIELDS = 4;

const options = (codes: readonly string[]): string =>
  `{ options: [${codes.map((code) => `{ code: ${code} }`).join(', ')}] }`;

const BUNDLE = `
settings: { defaultLocale: en-US, timezone: UTC }
types:
  - code: ticket
    name: Ticket
    category: object
    numbering: { prefix: TCK, digits: 7 }
    title: title
    workflow: ticket
    fields:
      - { code: title, dataType: string, constraints: { maxLength: 1000 } }
      - { code: description, dataType: text }
      - { code: priority, dataType: enum, default: p3, constraints: ${options(PRIORITIES)}, search: { filter: true, facet: true } }
      - { code: area, dataType: enum, required: true, constraints: ${options(AREAS)}, search: { filter: true } }
      - { code: internalNote, dataType: string }
workflows:
  - code: ticket
    name: Ticket
    initial: new
    states:
      - { code: new, name: New, category: open }
      - { code: done, name: Done, category: done }
    transitions:
      - { code: finish, name: Finish, from: [new], to: done }
roles:
  - code: reader
    name: Reader
    records:
      - type: ticket
        where: { field: area, operator: in, value: [${VISIBLE_AREAS.join(', ')}] }
        actions: [read]
        fields: { read: [title, description, priority, area], write: [] }
    assignedTo: { users: [${READER}] }
  - code: requester
    name: Requester
    records:
      - type: ticket
        where: { field: createdBy, operator: equals, value: $me }
        actions: [read]
        fields: { read: [title, description, priority, area], write: [] }
    assignedTo: { users: [${REQUESTER}] }
  - code: writer
    name: Writer
    records:
      - type: ticket
        actions: [read, create, update]
        fields: { read: '*', write: '*' }
    assignedTo: { users: [${WRITER}] }
users:
  - { login: ${READER}, displayName: Reader, email: reader@example.org }
  - { login: ${REQUESTER}, displayName: Requester, email: requester@example.org }
  - { login: ${WRITER}, displayName: Writer, email: writer@example.org }
`;

/** Writes the bundle into a new folder under `folder`. @returns that folder */
export async function writeBundle(folder: string): Promise<string> {
  const place = path.join(folder, 'bundle');
  await mkdir(place, { recursive: true });
  await writeFile(path.join(place, 'search.yaml'), BUNDLE);
  return place;
}
