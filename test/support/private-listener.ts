/** A listener at a private address that must not be called, and spellings of its address that attackers could use. */
import { type AddressInfo, createServer, type Server } from 'node:net';

export interface PrivateListener {
  port: number;
  /** Connections that came. */
  readonly sung: number;
  close(): Promise<void>;
}

/** Listens on every address of this machine, IPv4 and IPv6 where there is any. */
export async function startPrivateListener(): Promise<PrivateListener> {
  let sung = 0;
  const server: Server = createServer((socket) => {
    sung++;
    socket.destroy();
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', () => {
      server.once('error', reject);
      server.listen(0, '0.0.0.0', resolve);
    });
    server.listen(0, '::', resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    get sung() {
      return sung;
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/** Names as a hostile name server answers for them. */
export const HOSTILE_NAMES: ReadonlyMap<string, readonly string[]> = new Map([
  ['loopback.example.org', ['127.0.0.1']],
  ['metadata.google.internal', ['169.254.169.254']],
  ['mapped.example.org', ['::ffff:127.0.0.1']],
  ['six.example.org', ['::1']],
  ['mixed.example.org', ['1.1.1.1', '127.0.0.1']],
  ['mixed-six.example.org', ['2606:4700:4700::1111', '::1']],
  ['none.example.org', []],
  ['strange.example.org', ['not-an-address']],
  ['zone.example.org', ['fe80::1%lo']],
]);

// Loopback in every URL notation, then private and reserved networks.
const WRITTEN = `
  127.0.0.1 127.1 127.0.1 2130706433 0x7f000001 0x7f.1 0x7f.0x0.0x0.0x1 0177.0.0.1 017700000001 0177.0x0.1 127.0.0.1.
  １２７.０.０.１ 127。0。0。1 127.255.255.254 0.0.0.0 0 0x0 localhost LOCALHOST localhost. %6c%6fcalhost 127.0.0.%31 [::1]
  [0:0:0:0:0:0:0:1] [::] [::ffff:127.0.0.1] [::ffff:7f00:1] [::ffff:0:127.0.0.1] [::127.0.0.1] [64:ff9b::7f00:1]
  [64:ff9b:1::7f00:1] [2002:7f00:1::] [2001::7f00:1]
  10.0.0.1 172.16.0.1 172.31.255.255 192.168.0.1 169.254.169.254 0xa9fea9fe 100.64.0.1 100.100.100.200 168.63.129.16
  192.0.0.192 192.0.2.1 198.18.0.1 198.51.100.1 203.0.113.1 192.88.99.1 224.0.0.1 240.0.0.1 255.255.255.255
  [fe80::1] [fc00::1] [fd00:ec2::254] [fec0::1] [ff02::1] [100::1] [2001:db8::1] [3fff::1] [5f00::1] [2001:10::1]
  [4000::1] [::ffff:169.254.169.254] [::ffff:10.0.0.1]
`;

/** Hosts of URLs that denote or resolve to private addresses. */
export const PRIVATE_HOSTS: readonly string[] = [...WRITTEN.trim().split(/\s+/), ...HOSTILE_NAMES.keys()];
