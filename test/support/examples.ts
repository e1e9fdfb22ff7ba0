/** Records the examples of the OpenAPI documents: successful calls of a running service and their responses. */
import type { Example } from '../../src/contract/examples.ts';
import { MODULES } from '../../src/modules.ts';
import { operationsOf } from '../../src/platform/module.ts';
import { startTestApp } from './app.ts';
import { configurationExamples, identityExamples, integrationExamples } from './examples-administration.ts';
import { casesBy } from './operation-calls.ts';
import { OperationFixture } from './operation-calls-fixture.ts';
import { Recorder } from './examples-recorder.ts';
import {
  ADMIN_PASSWORD,
  importExportExamples,
  knowledgeExamples,
  objectExamples,
  EXAMPLE_CONFIGURATION,
} from './examples-records.ts';

/** What the cases of operations are called with: the records are incidents. */
class ExampleFixture extends OperationFixture {
  override async record(): Promise<string> {
    const values = { title: 'The printer on floor 3 does not print', priority: 'p2' };
    return (await this.send('POST', '/objects', { typeDefinitionId: 'incident', values })).id;
  }
}

/** Operations that the calls so far have not used are called as their cases do. */
async function recordOthers(recorder: Recorder, fixture: OperationFixture): Promise<void> {
  const cases = casesBy(fixture);
  for (const { id } of operationsOf(MODULES)) {
    if (recorder.examples.has(id)) continue;
    const { query, ...call } = (await cases[id]?.call()) ?? {};
    const given = [...new URLSearchParams(query)].map(([name, value]) => [
      name,
      /^\d+$/.test(value) ? Number(value) : value,
    ]);
    await recorder.keep(id, { ...call, ...(given.length === 0 ? {} : { query: Object.fromEntries(given) }) });
  }
}

/** Starts a service and makes all example calls. @returns examples by operation id */
export async function recordExamples(): Promise<Map<string, Example>> {
  const app = await startTestApp();
  try {
    await app.apply(EXAMPLE_CONFIGURATION);
    const keys = {
      public: (await app.createKey({ login: 'admin' })).key,
      console: (await app.createKey({ login: 'admin', scopes: ['admin:manage'] })).key,
    };
    const recorder = new Recorder(app, keys);
    const people = await identityExamples(recorder);
    await objectExamples(recorder, people);
    await knowledgeExamples(recorder);
    await importExportExamples(recorder);
    await integrationExamples(recorder, people);
    await configurationExamples(recorder, people, ADMIN_PASSWORD);
    await recordOthers(recorder, new ExampleFixture({ app, key: keys.public, adminKey: keys.console }));
    return recorder.examples;
  } finally {
    await app.close();
  }
}
