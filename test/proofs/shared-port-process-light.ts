/** One of several processes that share a port; starts quickly and responds with its name. */
import { createServer } from 'node:http';
import { WorkerIpc } from '../../src/cli/worker-ipc.ts';
import { AdoptedConnections } from '../../src/http/connection.ts';

const http = createServer((_, response) => response.end(JSON.stringify({ data: process.pid })));
http.maxConnections = 1000;
const adopted = new AdoptedConnections(http);
const ipc = new WorkerIpc();
ipc.ready(
  async () => '',
  (socket) => {
    adopted.adopt(socket);
    return true;
  },
);
