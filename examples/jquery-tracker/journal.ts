/** What a run has done, one line each, written before the run goes on: whoever starts again begins where the last one ended. */
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

  /** Opens or begins the journal. It holds keys: the file is its owner's alone. */
  constructor(path: string) {
    const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
    const lines = text.split('\n');
    // What stands behind the last line end was being written when the run was killed.
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
      // A torn line of a killed run; what it said is found again from the service.
    }
  }

  #apply(entry: Entry): void {
    if (entry.kind === 'key') this.keys.set(entry.login, entry.key);
    else if (entry.kind === 'created') this.created.set(entry.ticket, entry.id);
    else if (entry.kind === 'replayed') this.replayed.add(entry.ticket);
    else this.related.add(entry.ticket);
  }
}
