/** Entry point of worker threads: the tasks that `platform/threads.ts` can run, one at a time. */
import { readlinkSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { isFault } from './lib/fault.ts';
import { JsonFault } from './lib/json-error.ts';
import type { ThreadAnswer, ThreadOrder, ThreadTask } from './platform/threads.ts';

// The folder of the cache of the process, if it has one.
if (typeof workerData === 'string') enableCompileCache(workerData);

/**
 * By name. Only the file of a task is loaded, not the index of its module: a worker that takes the place of another one must
 * start quickly.
 */
const TASKS: Record<string, () => Promise<ThreadTask<never, unknown>>> = {
  'knowledge.text': async () => (await import('./domain/knowledge/text.ts')).readTextTask,
  'bundle.document': async () => (await import('./configuration/document.ts')).parseDocumentTask,
  'search.words': async () => (await import('./domain/search/indexing/projection.ts')).wordsTask,
  json: async () => (await import('./platform/long-json.ts')).checkJsonTask,
  'metadata.rich-text': async () => (await import('./domain/metadata/rich-text.ts')).readRichTextTask,
  'parse-mail': async () => (await import('./domain/mail/parse.ts')).parseMailTask,
};

/** Where the system has priorities of threads. It can only be lowered. */
function lowerPriority(niceness: number): void {
  if (niceness === 0 || process.platform !== 'linux') return;
  setPriority(Number(readlinkSync('/proc/thread-self').split('/').at(-1)), niceness);
}

async function taskOf(name: string): Promise<ThreadTask<never, unknown>> {
  const load = TASKS[name];
  if (load === undefined) throw new Error(`there is no task ${name}`);
  return await load();
}

async function answerOf(order: ThreadOrder): Promise<ThreadAnswer> {
  try {
    if ('load' in order) {
      await taskOf(order.load);
      lowerPriority(order.niceness);
      return { kind: 'ready' };
    }
    const task = await taskOf(order.task);
    return { kind: 'value', value: await task.run(order.input as never) };
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

parentPort?.on('message', async (order: ThreadOrder) => parentPort?.postMessage(await answerOf(order), []));
