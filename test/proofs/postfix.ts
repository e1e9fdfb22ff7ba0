/** Postfix of the system (Debian's package) with a configuration and a queue of its own, on one port of 127.0.0.1. Needs root. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chmod, copyFile, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeCertificate } from '../support/certificate.ts';

const DAEMONS = '/usr/lib/postfix/sbin';
const SCRIPT = new URL('../../deploy/postfix/docket-mail', import.meta.url);
/** nobody: owns the boxes and runs the transport. */
const OWNER = 65_534;

/** The internal services of Debian's master.cf, none in a chroot. */
const INTERNAL = `pickup unix n - n 60 1 pickup
cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
tlsmgr unix - - n 1000? 1 tlsmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
verify unix - - n - 1 verify
flush unix n - n 1000? 0 flush
proxymap unix - - n - - proxymap
smtp unix - - n - - smtp
relay unix - - n - - smtp
showq unix n - n - - showq
error unix - - n - - error
retry unix - - n - - error
discard unix - - n - - discard
virtual unix - n n - - virtual
anvil unix - - n - 1 anvil
postlog unix-dgram n - n - 1 postlogd
`;

export interface PostfixOptions {
  /** An empty folder that everybody may enter. */
  folder: string;
  port: number;
  /** Addresses that have a box; others of example.com do not exist. */
  boxes: readonly string[];
  /** Where mails to support@example.org are handed in, and with which key. */
  docket: { url: string; key: string };
}

export function postfixVersion(): string | undefined {
  try {
    return execFileSync('/usr/sbin/postconf', ['-d', '-h', 'mail_version'], { encoding: 'utf8' }).trim();
  } catch {
    return undefined;
  }
}

export class Postfix {
  readonly #folder: string;
  readonly #options: PostfixOptions;
  #master: ChildProcess | undefined;
  /** Path of the certificate, which is its own authority. */
  readonly certificate: string;

  private constructor(options: PostfixOptions) {
    this.#options = options;
    this.#folder = options.folder;
    this.certificate = path.join(options.folder, 'cert.pem');
  }

  static async create(options: PostfixOptions): Promise<Postfix> {
    const postfix = new Postfix(options);
    await postfix.#configure();
    return postfix;
  }

  async #configure(): Promise<void> {
    const { folder, port, boxes, docket } = this.#options;
    const at = (...names: string[]): string => path.join(folder, ...names);
    for (const name of ['etc', 'spool', 'data', 'boxes']) await mkdir(at(name));
    execFileSync('chown', ['postfix', at('data')]);
    execFileSync('chown', [`${OWNER}:${OWNER}`, at('boxes')]);
    const { cert, key } = makeCertificate(['127.0.0.1']);
    await writeFile(this.certificate, cert);
    await writeFile(at('key.pem'), key, { mode: 0o600 });
    await copyFile(SCRIPT, at('docket-mail'));
    await chmod(at('docket-mail'), 0o755);
    await writeFile(at('etc', 'boxes'), boxes.map((address) => `${address} ${address}/\n`).join(''));
    await writeFile(at('etc', 'transport'), 'support@example.org docket:\n');
    await this.refuse([]);
    await writeFile(
      at('etc', 'main.cf'),
      `compatibility_level = 3.6
queue_directory = ${at('spool')}
data_directory = ${at('data')}
command_directory = /usr/sbin
daemon_directory = ${DAEMONS}
mail_owner = postfix
setgid_group = postdrop
maillog_file = ${at('log')}
maillog_file_prefixes = ${folder}
myhostname = mx.example.org
mydestination =
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
mynetworks = 127.0.0.0/8
alias_maps =
smtpd_tls_cert_file = ${this.certificate}
smtpd_tls_key_file = ${at('key.pem')}
smtpd_tls_security_level = encrypt
smtpd_tls_received_header = yes
smtpd_reject_unlisted_recipient = no
smtpd_recipient_restrictions = check_recipient_access texthash:${at('etc', 'access')}, permit_mynetworks, reject
relay_domains = example.org
transport_maps = texthash:${at('etc', 'transport')}
recipient_delimiter = +
virtual_mailbox_domains = example.com
virtual_mailbox_base = ${at('boxes')}
virtual_mailbox_maps = texthash:${at('etc', 'boxes')}
virtual_minimum_uid = 1
virtual_uid_maps = static:${OWNER}
virtual_gid_maps = static:${OWNER}
queue_run_delay = 2s
minimal_backoff_time = 2s
maximal_backoff_time = 4s
export_environment = TZ MAIL_CONFIG LANG DOCKET_URL=${docket.url} DOCKET_KEY=${docket.key}
`,
      { mode: 0o644 },
    );
    await writeFile(
      at('etc', 'master.cf'),
      `127.0.0.1:${port} inet n - n - - smtpd
${INTERNAL}docket unix - n n - 4 pipe flags=Rq user=nobody argv=${at('docket-mail')} support
`,
    );
    execFileSync('/usr/sbin/postfix', ['-c', at('etc'), 'check'], { stdio: ['ignore', 'ignore', 'ignore'] });
  }

  /** Addresses that are refused with 450 for the time being, from the next start on. */
  async refuse(addresses: readonly string[]): Promise<void> {
    const lines = addresses.map((address) => `${address} 450 4.2.0 Try again later\n`);
    await writeFile(path.join(this.#folder, 'etc', 'access'), lines.join(''));
  }

  async start(): Promise<void> {
    const args = ['-c', path.join(this.#folder, 'etc'), '-d'];
    // In a process group of its own, so that a kill reaches all of its processes.
    const master = spawn(path.join(DAEMONS, 'master'), args, { detached: true, stdio: 'ignore' });
    this.#master = master;
    for (let wait = 0; wait < 600; wait++, await sleep(50)) {
      if (master.exitCode !== null) throw new Error(`Postfix ended: ${await this.log()}`);
      if (await this.#answers()) return;
    }
    throw new Error(`Postfix does not answer: ${await this.log()}`);
  }

  async #answers(): Promise<boolean> {
    return await new Promise<boolean>((resolve) => {
      const socket = connect(this.#options.port, '127.0.0.1');
      socket.once('data', () => {
        socket.end('QUIT\r\n');
        resolve(true);
      });
      socket.once('error', () => resolve(false));
      socket.setTimeout(2000, () => {
        socket.destroy();
        resolve(false);
      });
    });
  }

  /** Kills all of its processes without cleanup. */
  async kill(): Promise<void> {
    const master = this.#master;
    if (master === undefined) return;
    this.#master = undefined;
    const ended = new Promise((resolve) => master.once('exit', resolve));
    process.kill(-(master.pid as number), 'SIGKILL');
    await ended;
  }

  async log(): Promise<string> {
    return await readFile(path.join(this.#folder, 'log'), 'utf8').catch(() => '');
  }

  /** The messages that were delivered to the address. */
  async box(address: string): Promise<Buffer[]> {
    const folder = path.join(this.#folder, 'boxes', address, 'new');
    const names = await readdir(folder).catch((): string[] => []);
    return await Promise.all(names.sort().map((name) => readFile(path.join(folder, name))));
  }

  /** Number of messages in its queue. A file that is not executable is one that was not accepted yet (cleanup(8)). */
  async queued(): Promise<number> {
    let count = 0;
    for (const name of ['maildrop', 'incoming', 'active', 'deferred']) {
      const found = await readdir(path.join(this.#folder, 'spool', name), { recursive: true, withFileTypes: true });
      for (const entry of found) {
        if (!entry.isFile()) continue;
        const facts = await stat(path.join(entry.parentPath, entry.name)).catch(() => undefined);
        if (facts !== undefined && (facts.mode & 0o100) !== 0) count++;
      }
    }
    return count;
  }
}
