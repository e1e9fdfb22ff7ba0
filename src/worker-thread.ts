/** Entry point of worker threads: the tasks that `platform/threads.ts` can run, one at a time. */
import { parentPort } from 'node:worker_threads';
import { parseDocumentTask } from './configuration/document.ts';
import { readTextTask } from './domain/knowledge/index.ts';
import { parseMailTask } from './domain/mail/index.ts';
import { readRichTextTask } from './domain/metadata/index.ts';
import { wordsTask } from './domain/search/index.ts';
import { isFault } from './lib/fault.ts';
import { checkJsonTask } from './platform/long-json.ts';
import type { ThreadAnswer, ThreadTask } from './platform/threads.ts';
import { JsonFault } from './lib/json-error.ts';

const TASKS = [
  readTextTask,
  parseDocumentTask,
  wordsTask,
  checkJsonTask,
  readRichTextTask,
  parseMailTask,
] as readonly unknown[] as readonly ThreadTask<unknown, unknown>[];

async function answerOf(name: string, input: unknown): Promise<ThreadAnswer> {
  try {
    const task = TASKS.find((one) => one.name === name);
    if (task === undefined) throw new Error(`there is no task ${name}`);
    return { kind: 'value', value: await task.run(input) };
  } catch (error) {
    if (error instanceof JsonFault) return { kind: 'json-fault', place: error.place };
    if (isFault(error)) {
      const { code, message, reason, params, details } = error;
      return { kind: 'fault', code, said: { message, reason, ...(params === undefined ? {} : { params }) }, details };
    }
    const { message, stack } = error instanceof Error ? error : new Error(String(error));
    return { kind: 'error', message, stack };
  }
}

function say(answer: ThreadAnswer): void {
  parentPort?.postMessage(answer, []);
}

parentPort?.on('message', async ({ task, input }: { task: string; input: unknown }) =>
  say(await answerOf(task, input)),
);
say({ kind: 'ready' });
