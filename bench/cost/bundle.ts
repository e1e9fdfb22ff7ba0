/** The configuration: a type with a title, a text and short fields, two of them filtered; one person who may all. */
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';

export const OWNER = 'worker';
export const AREAS = ['north', 'south', 'east', 'west'] as const;
export const PRIORITIES = ['p1', 'p2', 'p3', 'p4'] as const;
/** Fields that may be filtered: each has an index. */
export const INDEXED_FIELDS = 2;

const choices = (codes: readonly string[]): string =>
  `{ options: [${codes.map((code) => `{ code: ${code} }`).join(', ')}] }`;

const BUNDLE = `
settings: { defaultLocale: en-US, timezone: UTC }
types:
  - code: ticket
    name: Ticket
    category: object
    numbering: { prefix: TCK, digits: 8 }
    title: title
    workflow: ticket
    fields:
      - { code: title, dataType: string, constraints: { maxLength: 1000 } }
      - { code: description, dataType: text }
      - { code: priority, dataType: enum, default: p3, constraints: ${choices(PRIORITIES)}, search: { filter: true, facet: true } }
      - { code: area, dataType: enum, required: true, constraints: ${choices(AREAS)}, search: { filter: true } }
      - { code: note, dataType: string }
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
  - code: worker
    name: Worker
    records:
      - type: ticket
        actions: [read, create, update, history, comment.create]
        fields: { read: '*', write: '*' }
    assignedTo: { users: [${OWNER}] }
users:
  - { login: ${OWNER}, displayName: Worker, email: worker@example.org }
`;

/** Writes the bundle into a new folder under `folder`. @returns that folder */
export async function writeBundle(folder: string): Promise<string> {
  const place = path.join(folder, 'bundle');
  await mkdir(place, { recursive: true });
  await writeFile(path.join(place, 'cost.yaml'), BUNDLE);
  return place;
}
