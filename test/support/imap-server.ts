/** A small IMAP server over TLS with one inbox, as far as a reader of mailboxes uses the protocol. */
import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import tls from 'node:tls';
import { type Certificate, makeCertificate } from './certificate.ts';

interface Stored {
  raw: Buffer;
  flags: Set<string>;
  /** The size that the server reports, if it is another one than that of `raw`. */
  size?: number;
}

export class ImapServer {
  readonly #server: tls.Server;
  readonly #sockets = new Set<Socket>();
  /** Connections that wait with IDLE → the tag of that command. */
  readonly #idle = new Map<Socket, string>();
  /** Connections → the number of messages that they were told last. */
  readonly #told = new Map<Socket, number>();
  /** The messages; the UID is the index plus one. */
  readonly messages: Stored[] = [];
  readonly certificate: Certificate;
  readonly login: { user: string; password: string };
  /** Commands in the order of their arrival, without their tags. */
  readonly commands: string[] = [];
  /** Called before a message is marked; if it returns true, the connection breaks instead. */
  breaksAtMark: () => boolean = () => false;
  /** Called when the content of a message was sent. */
  onSent: () => void = () => undefined;

  private constructor(login: { user: string; password: string }) {
    this.login = login;
    this.certificate = makeCertificate(['127.0.0.1']);
    this.#server = tls.createServer(this.certificate, (socket) => this.#serve(socket));
  }

  static async start(login: { user: string; password: string }): Promise<ImapServer> {
    const server = new ImapServer(login);
    server.#server.listen(0, '127.0.0.1');
    await once(server.#server, 'listening');
    return server;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Delivers a message, and tells the connections that wait for one. */
  deliver(raw: string | Buffer): void {
    this.messages.push({ raw: Buffer.from(raw), flags: new Set() });
    for (const socket of this.#idle.keys()) this.#tell(socket);
  }

  /** Reports messages that arrived since the last report, as real servers do during IDLE and at the end of each command. */
  #tell(socket: Socket): void {
    const count = this.messages.length;
    const told = this.#told.get(socket);
    if (told === undefined || told === count) return;
    this.#told.set(socket, count);
    socket.write(`* ${count} EXISTS\r\n`);
  }

  seen(): boolean[] {
    return this.messages.map(({ flags }) => flags.has('\\Seen'));
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise<void>((done) => this.#server.close(() => done()));
  }

  #serve(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.#sockets.delete(socket);
      this.#idle.delete(socket);
      this.#told.delete(socket);
    });
    socket.write('* OK [CAPABILITY IMAP4rev1 IDLE] ready\r\n');
    let rest = '';
    socket.on('data', (chunk: Buffer) => {
      const lines = (rest + chunk.toString('latin1')).split('\r\n');
      rest = lines.pop() ?? '';
      for (const line of lines) this.#answer(socket, line);
    });
  }

  #answer(socket: Socket, line: string): void {
    const waiting = this.#idle.get(socket);
    if (line === 'DONE' && waiting !== undefined) {
      this.#idle.delete(socket);
      socket.write(`${waiting} OK done\r\n`);
      return;
    }
    const [, tag = '', command = ''] = /^(\S+) (.*)$/.exec(line) ?? [];
    this.commands.push(command);
    const ok = (...lines: (string | Buffer)[]): void => {
      for (const one of lines) socket.write(one);
      this.#tell(socket);
      socket.write(`${tag} OK done\r\n`);
    };
    if (/^IDLE$/i.test(command)) {
      this.#idle.set(socket, tag);
      socket.write('+ idling\r\n');
      this.#tell(socket);
    } else if (/^LOGIN /i.test(command)) {
      const { user, password } = this.login;
      if (command.replaceAll('"', '') === `LOGIN ${user} ${password}`) ok();
      else socket.write(`${tag} NO [AUTHENTICATIONFAILED] wrong\r\n`);
    } else if (/^CAPABILITY/i.test(command)) ok('* CAPABILITY IMAP4rev1 IDLE\r\n');
    else if (/^(?:LIST|LSUB|XLIST) /i.test(command)) ok('* LIST () "/" INBOX\r\n');
    else if (/^SELECT /i.test(command)) {
      this.#told.set(socket, this.messages.length);
      ok(
        `* ${this.messages.length} EXISTS\r\n* FLAGS (\\Seen \\Flagged)\r\n`,
        `* OK [PERMANENTFLAGS (\\Seen \\Flagged)]\r\n* OK [UIDVALIDITY 1]\r\n* OK [UIDNEXT ${this.messages.length + 1}]\r\n`,
      );
    } else if (/^UID SEARCH /i.test(command)) {
      const [, from = '1', to = String(this.messages.length)] = /^UID SEARCH (\d+):(\d+)/i.exec(command) ?? [];
      const uids: number[] = [];
      for (let uid = Number(from); uid <= Math.min(Number(to), this.messages.length); uid++) {
        if (this.messages[uid - 1]?.flags.has('\\Seen') !== true) uids.push(uid);
      }
      ok(`* SEARCH${uids.map((uid) => ` ${uid}`).join('')}\r\n`);
    } else if (/^UID FETCH /i.test(command)) {
      ok(...this.#fetched(command));
      if (/BODY/i.test(command)) this.onSent();
    } else if (/^UID STORE /i.test(command)) this.#mark(socket, command, ok);
    else ok();
  }

  #fetched(command: string): (string | Buffer)[] {
    const uid = Number(/^UID FETCH (\d+)/i.exec(command)?.[1]);
    const message = this.messages[uid - 1];
    if (message === undefined) return [];
    const { raw, size = raw.length } = message;
    const start = `* ${uid} FETCH (UID ${uid} RFC822.SIZE ${size}`;
    const asked = /BODY\.PEEK\[\](?:<0\.(\d+)>)?/i.exec(command);
    if (asked === null) return [`${start})\r\n`];
    const [, most] = asked;
    const sent = most === undefined ? raw : raw.subarray(0, Number(most));
    return [`${start} BODY[]${most === undefined ? '' : '<0>'} {${sent.length}}\r\n`, sent, ')\r\n'];
  }

  #mark(socket: Socket, command: string, ok: () => void): void {
    if (this.breaksAtMark()) {
      socket.destroy();
      return;
    }
    const [, uid = '', flags = ''] = /^UID STORE (\d+) \+FLAGS(?:\.SILENT)? \(([^)]*)\)/i.exec(command) ?? [];
    for (const flag of flags.split(' ')) this.messages[Number(uid) - 1]?.flags.add(flag);
    ok();
  }
}
