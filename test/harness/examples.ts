/** Records the examples of the OpenAPI documents: successful calls of a running service and their responses. */
import type { Example } from '../../src/contract/examples.ts';
import { startTestApp } from './app.ts';
import { configurationExamples, identityExamples, integrationExamples } from './examples-administration.ts';
import { Recorder } from './examples-recorder.ts';
import {
  ADMIN_PASSWORD,
  importExportExamples,
  knowledgeExamples,
  objectExamples,
  EXAMPLE_CONFIGURATION,
} from './examples-records.ts';

/** Starts a service and makes all example calls. @returns examples by operation id */
export async function recordExamples(): Promise<Map<string, Example>> {
  const app = await startTestApp();
  try {
    await app.apply(EXAMPLE_CONFIGURATION);
    const recorder = new Recorder(app, {
      public: (await app.createKey({ login: 'admin' })).key,
      console: (await app.createKey({ login: 'admin', scopes: ['admin:manage'] })).key,
    });
    const people = await identityExamples(recorder);
    await objectExamples(recorder, people);
    await knowledgeExamples(recorder);
    await importExportExamples(recorder);
    await integrationExamples(recorder, people);
    await configurationExamples(recorder, people, ADMIN_PASSWORD);
    return recorder.examples;
  } finally {
    await app.close();
  }
}
