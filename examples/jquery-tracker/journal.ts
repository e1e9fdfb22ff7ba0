/**
 * A log of the run's steps, one line each, written before the run continues, so that a restart resumes where the last run
 * ended.
 */
import { closeSync, existsSync, openSync, readFileSync, writeSync } from 'node:fs';

type Entry =
  | { kind: 'key'; login: string; key: string }
  | { kind: 'created'; ticket: string; id: string }
  | { kind: 'replayed'; ticket: string }
  | { kind: 'related'; ticket: string };

export class Journal {
  readonly #file: number;
  /** Key by login. */
  readonly keys = new Map<string, string>();
  /** Id of the record by ticket. */
  readonly created = new Map<string, string>();
  /** Tickets whose whole history was replayed. */
  readonly replayed = new Set<string>();
  /** Tickets that were linked to the one that they duplicate. */
  readonly related = new Set<string>();

  /** Opens or creates the log. It contains keys, so only its owner may read the file. */
  constructor(path: string) {
    const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
    const lines = text.split('\n');
    // Text after the last line end was being written when the run was killed.
    const torn = lines.pop() ?? '';
    for (const line of lines) if (line !== '') this.#take(line);
    this.#file = openSync(path, 'a', 0o600);
    if (torn !== '') writeSync(this.#file, '\n');
  }

  get begun(): boolean {
    return this.created.size > 0;
  }

  write(entry: Entry): void {
    this.#apply(entry);
    writeSync(this.#file, `${JSON.stringify(entry)}\n`);
  }

  close(): void {
    closeSync(this.#file);
  }

  #take(line: string): void {
    try {
      this.#apply(JSON.parse(line) as Entry);
    } catch {
      // A truncated line of a killed run; its content is read again from the service.
    }
  }

  #apply(entry: Entry): void {
    if (entry.kind === 'key') this.keys.set(entry.login, entry.key);
    else if (entry.kind === 'created') this.created.set(entry.ticket, entry.id);
    else if (entry.kind === 'replayed') this.replayed.add(entry.ticket);
    else this.related.add(entry.ticket);
  }
}
