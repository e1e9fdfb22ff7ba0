/**
 * Tickets in a folder: who uses the embedded database, and whose turn it is to start or stop it.
 *
 * A ticket is a file with a name that is never used again, put in place whole. Everybody first puts theirs and then reads
 * all, so of two who come at once at least one sees the other; who sees another steps back and tries again. A ticket of a
 * dead process may be removed by anybody, without a race, because its name cannot come to mean another process.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EmbeddedError } from './embedded-error.ts';
import { identityOf, type Liveness, livenessOf, type ProcessIdentity } from './embedded-process.ts';

export type TicketKind = 'turn' | 'service' | 'tool';

export interface LiveTicket {
  file: string;
  kind: TicketKind;
  owner: ProcessIdentity;
  liveness: Exclude<Liveness, 'dead'>;
}

export interface Ticket {
  file: string;
  release(): Promise<void>;
}

/** `folder` is the inode of the folder that the ticket was put into: in a copy of the folder it says nothing. */
interface TicketText {
  owner: ProcessIdentity;
  folder: number;
}

const FILE_NAME = /^(turn|service|tool)-[0-9a-f-]{36}$/;

export class Tickets {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async put(kind: TicketKind): Promise<Ticket> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const name = `${kind}-${randomUUID()}`;
    const file = path.join(this.#folder, name);
    const unfinished = path.join(this.#folder, `.${name}`);
    const text: TicketText = { owner: identityOf(process.pid), folder: (await stat(this.#folder)).ino };
    await writeFile(unfinished, JSON.stringify(text), { mode: 0o600 });
    await rename(unfinished, file);
    return { file: name, release: () => rm(file, { force: true }) };
  }

  /** The tickets of this kind whose owners live, or may live, other than `own`; those of dead owners are cleared away. */
  async others(kind: TicketKind, own?: Ticket): Promise<LiveTicket[]> {
    const live: LiveTicket[] = [];
    for (const name of await this.#names()) {
      if (!name.startsWith(`${kind}-`) || name === own?.file) continue;
      const owner = await this.#owner(name);
      if (owner === null) continue;
      const liveness = livenessOf(owner);
      if (liveness === 'dead') await rm(path.join(this.#folder, name), { force: true });
      else live.push({ file: name, kind, owner, liveness });
    }
    return live;
  }

  /** Removes a ticket whose owner was found to be gone by other means. */
  async discard(ticket: LiveTicket): Promise<void> {
    await rm(path.join(this.#folder, ticket.file), { force: true });
  }

  /**
   * Waits until it is this process's turn. `onWait` is called once if others are first. A holder in another container
   * counts as gone after a minute without end, since nothing can tell. An aborted `signal` ends the wait with its reason.
   */
  async turn(limitMs: number, onWait: (pid: number) => void = () => {}, signal?: AbortSignal): Promise<Ticket> {
    const started = performance.now();
    for (let attempt = 0; ; attempt++) {
      signal?.throwIfAborted();
      const mine = await this.put('turn');
      const [other] = await this.others('turn', mine);
      if (other === undefined) return mine;
      await mine.release();
      const waited = performance.now() - started;
      if (other.liveness === 'unknown' && waited > 60_000) {
        await this.discard(other);
        continue;
      }
      if (waited > limitMs) {
        throw new EmbeddedError(
          `Process ${other.owner.pid} has been starting or stopping the database in this data folder for ` +
            `${Math.round(waited / 1000)} seconds; wait for it, or end it, and try again.`,
        );
      }
      if (attempt === 0) onWait(other.owner.pid);
      await sleep(20 + Math.random() * 80);
    }
  }

  async #names(): Promise<string[]> {
    try {
      return (await readdir(this.#folder)).filter((name) => FILE_NAME.test(name));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
      throw error;
    }
  }

  async #owner(name: string): Promise<ProcessIdentity | null> {
    try {
      const ticket = JSON.parse(await readFile(path.join(this.#folder, name), 'utf8')) as TicketText;
      if (ticket.folder === (await stat(this.#folder)).ino) return ticket.owner;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      // A power failure can leave a file without its content; such an owner is not alive any more.
      if (!(error instanceof SyntaxError)) throw error;
    }
    await rm(path.join(this.#folder, name), { force: true });
    return null;
  }
}
