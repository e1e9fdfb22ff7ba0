/**
 * A lock as tickets in a folder: they show which processes use the embedded database and which one may start or stop it.
 *
 * A ticket is a file with a unique name that is never reused, created atomically. Every process first adds its ticket and then
 * reads all of them. Of two processes that arrive at once, at least one therefore sees the other; a process that sees another
 * removes its ticket and retries. Any process may remove the ticket of a dead one without a race, because its name cannot refer
 * to another process later.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EmbeddedError, identityOf, type Liveness, livenessOf, type ProcessIdentity } from './embedded-process.ts';
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

/** `folder` is the inode of the folder that the ticket was created in. In a copy of the folder the ticket is ignored. */
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

  /** Tickets of this kind other than `own` whose owners are or may be alive. Removes those of dead owners. */
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
   * Waits until this process holds the only turn ticket. `onWait` is called once if it has to wait. A holder in another
   * container counts as gone after a minute, since its state cannot be checked. An aborted `signal` ends the wait with its
   * reason.
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
      // A power failure can leave an empty file, whose owner is no longer alive.
      if (!(error instanceof SyntaxError)) throw error;
    }
    await rm(path.join(this.#folder, name), { force: true });
    return null;
  }
}
