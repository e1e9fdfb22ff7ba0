/** Counts the bytes that this process receives from PostgreSQL. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';

export interface DatabaseTraffic {
  /** Bytes received so far, over connections that were opened since the watch began. */
  received(): number;
  /** Bytes of the largest answer to a statement since this was last called. */
  takeLargest(): number;
  /** Watches no further connection. */
  stop(): void;
}

/** The first byte of a message of the server, which no HTTP answer begins with: an authentication request. */
const AUTHENTICATION = 0x52;
/** The type of the message that ends the answer to a statement: the server is ready for the next one. */
const READY = 0x5a;
/** The type of a message, and the length of what follows, itself included. */
const HEAD = 5;

/** Follows the messages of one connection. @returns a function that takes what arrives */
function statementSizes(onAnswer: (bytes: number) => void): (bytes: Buffer) => void {
  let head = Buffer.alloc(0);
  let left = 0;
  let size = 0;
  let isReady = false;
  return (bytes) => {
    for (let at = 0; at < bytes.length; ) {
      const wanted = left > 0 ? left : HEAD - head.length;
      const part = bytes.subarray(at, at + wanted);
      at += part.length;
      size += part.length;
      if (left > 0) left -= part.length;
      else {
        head = Buffer.concat([head, part]);
        if (head.length < HEAD) return;
        isReady = head[0] === READY;
        left = head.readInt32BE(1) - 4;
        head = Buffer.alloc(0);
      }
      if (left > 0 || !isReady) continue;
      onAnswer(size);
      size = 0;
    }
  };
}

/** Begins to watch. Call it before the service opens its connections. */
export function watchDatabase(): DatabaseTraffic {
  const open = new Set<Socket>();
  let closed = 0;
  let largest = 0;
  const onSocket = (message: unknown): void => {
    const { socket } = message as { socket: Socket };
    socket.once('data', (first: Buffer) => {
      if (first[0] !== AUTHENTICATION) return;
      const follow = statementSizes((bytes) => (largest = Math.max(largest, bytes)));
      follow(first);
      socket.on('data', follow);
      open.add(socket);
      socket.once('close', () => {
        open.delete(socket);
        closed += socket.bytesRead;
      });
    });
  };
  subscribe('net.client.socket', onSocket);
  return {
    received: () => [...open].reduce((sum, { bytesRead }) => sum + bytesRead, closed),
    takeLargest: () => {
      const taken = largest;
      largest = 0;
      return taken;
    },
    stop: () => unsubscribe('net.client.socket', onSocket),
  };
}
