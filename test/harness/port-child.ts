/** One of several processes that share a port, with the whole HTTP layer and nothing behind it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { ChildVoice } from '../../src/cli/child-voice.ts';
import { listenNowhere } from '../../src/http/handed.ts';
import { adopt, buildServer, drain } from '../../src/http/server.ts';
import { echoing, getting, optionsOf } from './http-sample.ts';

const voice = new ChildVoice();
const { options } = optionsOf(
  [
    ...echoing,
    getting('/pid', async () => process.pid),
    getting('/later', async () => {
      await sleep(300);
      return process.pid;
    }),
  ],
  { receiveMs: 1000, trustedProxies: ['127.0.0.9'], connections: 40 },
);
const server = buildServer(options);
await listenNowhere(server);
process.once('SIGTERM', () => {
  voice.leaving();
  void drain(server, 5000).then(() => voice.leave());
});
voice.ready(
  async () => '',
  (socket) => adopt(server, socket),
);
