/** Commands of the command line, run in the process of the test. */
import { run } from '../../src/cli.ts';

export interface Said {
  code: number;
  out: string;
  err: string;
}

/** Keeps what is written as text; what the runner of the tests writes is bytes. */
function catching(stream: NodeJS.WriteStream, said: string[]): () => void {
  const { write } = stream;
  stream.write = ((chunk: unknown, ...more: []): boolean => {
    if (typeof chunk !== 'string') return write.call(stream, chunk as Uint8Array, ...more);
    said.push(chunk);
    return true;
  }) as typeof write;
  return () => {
    stream.write = write;
  };
}

/** Runs one command to its end. A service that starts would not end: use it for `serve` only where that refuses. */
export async function runCommand(args: readonly string[], env: Record<string, string>): Promise<Said> {
  const out: string[] = [];
  const err: string[] = [];
  const undo = [catching(process.stdout, out), catching(process.stderr, err)];
  try {
    const code = await run(args, env);
    return { code, out: out.join(''), err: err.join('') };
  } finally {
    for (const back of undo) back();
  }
}
