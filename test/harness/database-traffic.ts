/** Counts the bytes that this process receives from PostgreSQL. */
import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';

export interface DatabaseTraffic {
  /** Bytes received so far, over connections that were opened since the watch began. */
  received(): number;
}

/** The first byte of a message of the server, which no HTTP answer begins with: an authentication request. */
const AUTHENTICATION = 0x52;

/** Begins to watch. Call it before the service opens its connections. */
export function watchDatabase(): DatabaseTraffic {
  const open = new Set<Socket>();
  let closed = 0;
  subscribe('net.client.socket', (message) => {
    const { socket } = message as { socket: Socket };
    socket.once('data', (bytes: Buffer) => {
      if (bytes[0] !== AUTHENTICATION) return;
      open.add(socket);
      socket.once('close', () => {
        open.delete(socket);
        closed += socket.bytesRead;
      });
    });
  });
  return { received: () => [...open].reduce((sum, { bytesRead }) => sum + bytesRead, closed) };
}
