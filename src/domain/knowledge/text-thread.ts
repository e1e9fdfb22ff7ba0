/** The thread of `TextReader`: reads one text after the other. Documents travel as JSON, which costs the other side least. */
import { parentPort } from 'node:worker_threads';
import type { InlineImage } from '../metadata/door.ts';
import { type GivenText, readText } from './text.ts';

export interface Answer {
  /** A `ReadText` as JSON, without its images. */
  answer: string;
  images: readonly InlineImage[];
}

parentPort?.on('message', (json: string) => {
  const read = readText(JSON.parse(json) as GivenText);
  if (!read.ok) parentPort?.postMessage({ answer: JSON.stringify(read), images: [] }, []);
  else parentPort?.postMessage({ answer: JSON.stringify({ ...read, images: [] }), images: read.images }, []);
});

// Loading takes longer than most texts, and is not theirs.
parentPort?.postMessage('ready', []);
