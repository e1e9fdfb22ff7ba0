/** One of several processes that share a port, soon there: says which it is. */
import { createServer } from 'node:http';
import { ChildVoice } from '../../src/cli/child-voice.ts';
import { Handed } from '../../src/http/handed.ts';

const http = createServer((_, response) => response.end(JSON.stringify({ data: process.pid })));
http.maxConnections = 1000;
const handed = new Handed(http);
const voice = new ChildVoice();
voice.ready(
  async () => '',
  (socket) => {
    handed.adopt(socket);
    return true;
  },
);
