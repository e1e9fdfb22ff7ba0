/** The cases of all operations, collected from the folders of the modules, and the configuration in which they are called. */
import { globSync } from 'node:fs';
import path from 'node:path';
import { MODULES } from '../../src/modules.ts';
import { operationsOf } from '../../src/platform/module.ts';
import type { TestApp } from './app.ts';
import { type ModuleCases, OperationFixture } from './operation-calls-fixture.ts';
import { HIDDEN_FIELD, missing, NOT_THERE, type OperationCase } from './operation-calls-case.ts';
import { ACTIONS, RIGHTS, user } from './small-configuration.ts';
import { ROOT } from './source-files.ts';

/** What each module exports, by its folder. */
export const CASES: ReadonlyMap<string, ModuleCases> = new Map(
  await Promise.all(
    globSync('src/**/*.cases.ts', { cwd: ROOT })
      .sort()
      .map(async (file): Promise<[string, ModuleCases]> => {
        const { cases } = (await import(path.join(ROOT, file))) as { cases: ModuleCases };
        return [path.basename(path.dirname(file)), cases];
      }),
  ),
);

/** Whether the operation reads one record that its path names, and needs no other input: `GET /objects/{objectId}/…`. */
export function isRecordRead({ method, path: below }: { method: string; path: string }): boolean {
  return method === 'GET' && /^\/objects\/\{objectId\}(?:\/[^{}]+)?$/.test(below);
}

export const WORLD = `
types:
  - code: thing
    name: Thing
    category: object
    title: title
    workflow: flow
    fields:
      - { code: title, dataType: string, required: true }
      - { code: shown, dataType: boolean, default: true }
      - { code: picture, dataType: rich-text }
      - { code: ${HIDDEN_FIELD}, dataType: string }
workflows:
  - code: flow
    initial: begun
    states: [{ code: begun, category: open }, { code: ended, category: done }]
    transitions: [{ code: end, from: [begun], to: ended }]
${[...CASES.values()].map(({ world = '' }) => world.trimStart()).join('')}roles:
  - code: everything
    rights: [${RIGHTS}]
    records: [{ type: '*', actions: [${ACTIONS}], fields: { read: '*', write: '*' }, transitions: '*' }]
    assignedTo: { users: [full, archived] }
  - code: partial
    rights: [${RIGHTS.replace('role.assign, ', '')}]
    records:
      - type: thing
        where: { field: shown, operator: equals, value: true }
        actions: [${ACTIONS}]
        fields: { read: [title, shown, picture], write: [title, shown] }
        transitions: '*'
    assignedTo: { users: [partial] }
  - code: reader
    records: [{ type: thing, actions: [read], fields: { read: '*', write: [] } }]
    assignedTo: { users: [reader] }
users:
${['full', 'partial', 'reader', 'nobody', 'archived'].map(user).join('')}`;

/** Reads of one record need no case: the declared right says who lacks access, and the largest is that of a large record. */
function recordReads(make: OperationFixture): Record<string, OperationCase> {
  const reads = operationsOf(MODULES).filter(isRecordRead);
  return Object.fromEntries(
    reads.map(({ id, right, status }): [string, OperationCase] => [
      id,
      {
        ...make.onRecord(),
        lacks: right === undefined || right === 'read' ? NOT_THERE : missing(right, 'reader'),
        large: ({ record }) => [{ name: 'of a large record', params: { objectId: record }, status }],
      },
    ]),
  );
}

/** Every operation by its id. */
export function operationCases(
  app: TestApp,
  keyOfFull: string,
  adminKeyOfFull: string,
): Readonly<Record<string, OperationCase>> {
  return casesBy(new OperationFixture({ app, key: keyOfFull, adminKey: adminKeyOfFull }));
}

/** The cases by the id of the operation; their calls need what the fixture has. */
export function casesBy(make: OperationFixture): Readonly<Record<string, OperationCase>> {
  return Object.assign(recordReads(make), ...[...CASES.values()].map(({ of }) => of(make)));
}

/** The same without a service, to be looked at. */
export const LISTED: Readonly<Record<string, OperationCase>> = casesBy(new OperationFixture());
