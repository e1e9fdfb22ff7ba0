/** One of several processes that share a port, with the whole HTTP layer and no domain modules. */
import { setTimeout as sleep } from 'node:timers/promises';
import { WorkerIpc } from '../../src/cli/worker-ipc.ts';
import { listenNowhere } from '../../src/http/connection.ts';
import { adopt, buildServer, drain } from '../../src/http/server.ts';
import { echoing, getting, optionsOf } from '../support/http-sample.ts';

/** A slow request ends MORE_MS after SIGTERM, or after LATER_MS + MORE_MS. */
const LATER_MS = 2500;
const MORE_MS = 300;
const stopping = Promise.withResolvers<void>();
let running = 0;

const ipc = new WorkerIpc();
const { options } = optionsOf(
  [
    ...echoing,
    getting('/pid', async () => process.pid),
    getting('/later', async () => {
      running++;
      await Promise.race([sleep(LATER_MS), stopping.promise]);
      await sleep(MORE_MS);
      running--;
      return process.pid;
    }),
    getting('/running', async () => [process.pid, running]),
  ],
  { receiveMs: Number(process.env['RECEIVE_MS'] ?? 1000), trustedProxies: ['127.0.0.9'], connections: 40 },
);
const server = buildServer(options);
await listenNowhere(server);
process.once('SIGTERM', () => {
  ipc.leaving();
  stopping.resolve();
  void drain(server, 5000).then(() => ipc.leave());
});
ipc.ready(
  async () => '',
  (socket) => adopt(server, socket),
);
