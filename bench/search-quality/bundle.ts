/** The configuration of the relevance tests: a type for each collection, and for each type a user who reads only that type. */
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';

const typeOf = (set: string): string => `
  - code: ${set}
    name: ${set}
    category: object
    title: title
    fields:
      - { code: title, dataType: string }
      - { code: text, dataType: text }
      - { code: marks, dataType: string }`;

const roleOf = (set: string): string => `
  - code: ${set}
    name: ${set}
    records:
      - type: ${set}
        actions: [read, create, comment.create]
        fields: { read: '*', write: '*' }
    assignedTo: { users: [${set}] }`;

const userOf = (set: string): string => `
  - { login: ${set}, displayName: ${set}, email: ${set}@example.org }`;

/** Writes the bundle into a new folder under `folder`. @returns that folder */
export async function writeBundle(folder: string, sets: readonly string[]): Promise<string> {
  const place = path.join(folder, 'bundle');
  await mkdir(place, { recursive: true });
  const bundle = `settings: { defaultLocale: ru-RU, timezone: UTC }
types:${sets.map(typeOf).join('')}
roles:${sets.map(roleOf).join('')}
users:${sets.map(userOf).join('')}
`;
  await writeFile(path.join(place, 'judged.yaml'), bundle);
  return place;
}
