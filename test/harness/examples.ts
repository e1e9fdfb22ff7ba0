/** Records worked examples for the OpenAPI documents: successful calls of a running service, and what it answers. */
import type { Example } from '../../src/contract/examples.ts';
import { startTestApp } from './app.ts';
import { configurationStory, identityStory, integrationStory } from './examples-administration.ts';
import { Recorder } from './examples-recorder.ts';
import { ADMIN_PASSWORD, exchangeStory, knowledgeStory, recordStory, WORLD } from './examples-records.ts';

/** Starts a service, makes every call of the stories and gives what was kept, by id of the operation. */
export async function recordExamples(): Promise<Map<string, Example>> {
  const app = await startTestApp();
  try {
    await app.apply(WORLD);
    const recorder = new Recorder(app, {
      public: (await app.createKey({ login: 'admin' })).key,
      console: (await app.createKey({ login: 'admin', scopes: ['admin:manage'] })).key,
    });
    const people = await identityStory(recorder);
    await recordStory(recorder, people);
    await knowledgeStory(recorder);
    await exchangeStory(recorder);
    await integrationStory(recorder, people);
    await configurationStory(recorder, people, ADMIN_PASSWORD);
    return recorder.examples;
  } finally {
    await app.close();
  }
}
