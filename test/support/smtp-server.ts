/** An SMTP server without TLS and sign-in, for mails that the service sends. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';
import type { SmtpServer } from '../../src/lib/smtp-url.ts';

export interface MailServer {
  /** How the service reaches it. */
  smtp: SmtpServer;
  stop(): Promise<void>;
}

/** @param take gets each message; an error refuses it, with its `responseCode` */
export async function startMailServer(take: (raw: Buffer) => Promise<void> | void): Promise<MailServer> {
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData: async (stream, _session, done) => {
      const chunks: Buffer[] = [];
      for await (const chunk of stream) chunks.push(chunk as Buffer);
      try {
        await take(Buffer.concat(chunks));
        done();
      } catch (error) {
        done(error as Error);
      }
    },
  });
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  const { port } = server.server.address() as AddressInfo;
  return {
    smtp: { host: '127.0.0.1', port, secure: false, requireTLS: false },
    stop: () => new Promise<void>((done) => server.close(() => done())),
  };
}
