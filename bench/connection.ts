/**
 * A keep-alive HTTP/1.1 connection with one request at a time on a raw socket. The client shares the machine with the server
 * under test, so it must be cheap. It reads only responses with Content-Length.
 */
import { connect, type Socket } from 'node:net';

export interface Answer {
  status: number;
  body: Buffer;
}

const HEAD_END = '\r\n\r\n';
const LENGTH = /\r\ncontent-length: *(\d+)/i;

interface Waiting {
  resolve(answer: Answer): void;
  reject(error: Error): void;
}

export class Connection {
  readonly #socket: Socket;
  #waiting: Waiting | undefined;
  #received: Buffer[] = [];
  #size = 0;
  /** Bytes of the whole answer, once its head is there. */
  #expected: { head: number; total: number; status: number } | undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => this.#take(chunk));
    socket.on('error', (error) => this.#fail(error));
    socket.on('close', () => this.#fail(new Error('the connection was closed')));
  }

  static open(port: number): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const socket = connect({ host: '127.0.0.1', port });
      socket.once('error', reject);
      socket.once('connect', () => {
        socket.off('error', reject);
        resolve(new Connection(socket));
      });
    });
  }

  /** Sends one request, given as its text on the wire. */
  request(text: string): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#socket.write(text);
    });
  }

  close(): void {
    this.#waiting = undefined;
    this.#socket.destroy();
  }

  #take(chunk: Buffer): void {
    this.#received.push(chunk);
    this.#size += chunk.length;
    if (this.#expected === undefined) {
      const bytes = this.#all();
      const end = bytes.indexOf(HEAD_END);
      if (end < 0) return;
      const length = LENGTH.exec(bytes.toString('latin1', 0, end));
      if (length === null) return this.#fail(new Error('an answer without Content-Length'));
      const head = end + HEAD_END.length;
      this.#expected = { head, total: head + Number(length[1]), status: Number(bytes.toString('latin1', 9, 12)) };
    }
    const { head, total, status } = this.#expected;
    if (this.#size < total) return;
    const body = this.#all().subarray(head, total);
    this.#received = [];
    this.#size = 0;
    this.#expected = undefined;
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.resolve({ status, body });
  }

  #all(): Buffer {
    if (this.#received.length > 1) this.#received = [Buffer.concat(this.#received)];
    return this.#received[0] as Buffer;
  }

  #fail(error: Error): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.reject(error);
    this.#socket.destroy();
  }
}
