/** Entry point of the thread that holds the search index in memory (`domain/search/memory/thread.ts`). */
import { parentPort, workerData } from 'node:worker_threads';
import { runMemoryThread, type ThreadOptions } from './domain/search/index.ts';

if (parentPort !== null) await runMemoryThread(parentPort, workerData as ThreadOptions);
