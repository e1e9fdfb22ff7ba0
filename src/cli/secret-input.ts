/** Reads secrets from standard input: typed at a terminal without echo, or from a pipe. */
import type { ReadStream } from 'node:tty';

const ENTER = /[\r\n]/;
const CTRL_C = '\u0003';
const CTRL_D = '\u0004';
const CTRL_U = '\u0015';
const DELETE = new Set(['\u007f', '\b']);
/** Arrow and function keys arrive as escape sequences of several characters. */
const ESCAPE = new RegExp(String.raw`\u001b(?:\[[0-9;]*[ -/]*[@-~]|O.|.)?`, 'g');

/**
 * Reads a secret. A terminal asks for it twice, without echo. From a pipe, the secret is the whole input without the last line
 * end.
 *
 * @throws Error if the two entries differ, or the input ends before Enter
 */
export async function readSecret(what: string): Promise<string> {
  if (!process.stdin.isTTY) return await wholeInput(process.stdin);
  const terminal = new HiddenInput(process.stdin);
  try {
    const first = await terminal.line(`${what}: `);
    const second = await terminal.line(`${what} again: `);
    if (first !== second) throw new Error('The two entries differ. Nothing was changed. Run the command again.');
    return first;
  } finally {
    terminal.close();
  }
}

async function wholeInput(stdin: NodeJS.ReadableStream): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stdin) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks)
    .toString('utf8')
    .replace(/\r?\n$/, '');
}

/** Reads lines from a terminal without echo. */
class HiddenInput {
  readonly #terminal: ReadStream;
  /** Typed characters that no line has read yet. A paste may contain several lines. */
  #typed = '';
  #line: string[] = [];
  #wanted: PromiseWithResolvers<string> | undefined;

  constructor(terminal: ReadStream) {
    this.#terminal = terminal;
    // Before the first prompt, so that no typed character is shown.
    terminal.setRawMode(true).setEncoding('utf8');
    terminal.on('data', (text: string | Buffer) => {
      this.#typed += String(text).replaceAll(ESCAPE, '');
      this.#take();
    });
    terminal.on('end', () => this.#fail());
  }

  async line(prompt: string): Promise<string> {
    process.stderr.write(prompt);
    this.#line = [];
    this.#wanted = Promise.withResolvers<string>();
    const { promise } = this.#wanted;
    this.#take();
    try {
      return await promise;
    } finally {
      process.stderr.write('\n');
    }
  }

  #take(): void {
    for (const character of this.#typed) {
      if (this.#wanted === undefined) return;
      this.#typed = this.#typed.slice(character.length);
      if (ENTER.test(character)) {
        this.#wanted.resolve(this.#line.join(''));
        this.#wanted = undefined;
      } else if (character === CTRL_C) {
        this.close();
        process.stderr.write('\n');
        process.kill(process.pid, 'SIGINT');
      } else if (character === CTRL_D) this.#fail();
      else if (DELETE.has(character)) this.#line.pop();
      else if (character === CTRL_U) this.#line = [];
      else if (character >= ' ') this.#line.push(character);
    }
  }

  #fail(): void {
    this.#wanted?.reject(new Error('The input ended before Enter. Nothing was changed. Run the command again.'));
    this.#wanted = undefined;
  }

  close(): void {
    this.#terminal.setRawMode(false).pause();
    this.#terminal.removeAllListeners('data').removeAllListeners('end');
  }
}
