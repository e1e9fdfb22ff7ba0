/**
 * Creates a self-signed certificate for one test run: a key of node:crypto and a minimal DER encoder, so that no program
 * besides Node is needed. The certificate is its own root of trust.
 */
import { type KeyObject, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { isIPv4 } from 'node:net';

export interface Certificate {
  /** PEM. */
  cert: string;
  key: string;
}

function der(tag: number, ...parts: Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  if (length < 128) return Buffer.concat([Buffer.of(tag, length), content]);
  const size = Buffer.from(length.toString(16).padStart(length > 255 ? 4 : 2, '0'), 'hex');
  return Buffer.concat([Buffer.of(tag, 0x80 | size.length), size, content]);
}

const sequence = (...parts: Uint8Array[]): Buffer => der(0x30, ...parts);
const set = (...parts: Uint8Array[]): Buffer => der(0x31, ...parts);
const octets = (content: Uint8Array): Buffer => der(0x04, content);
const bits = (content: Uint8Array): Buffer => der(0x03, Buffer.of(0), content);
const utc = (at: Date): Buffer => der(0x17, Buffer.from(`${at.toISOString().slice(2, 19).replaceAll(/[-:T]/g, '')}Z`));

/** Object identifiers, encoded. */
const OID = {
  commonName: Buffer.from('0603550403', 'hex'),
  ecdsaWithSha256: Buffer.from('06082a8648ce3d040302', 'hex'),
  subjectAltName: Buffer.from('0603551d11', 'hex'),
  basicConstraints: Buffer.from('0603551d13', 'hex'),
};

function name(commonName: string): Buffer {
  return sequence(set(sequence(OID.commonName, der(0x0c, Buffer.from(commonName)))));
}

function altName(host: string): Buffer {
  return isIPv4(host) ? der(0x87, Buffer.from(host.split('.').map(Number))) : der(0x82, Buffer.from(host));
}

function pem(label: string, content: Buffer): string {
  const lines = content.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}

/** A certificate for names and IPv4 addresses, good for a day before and a month after now. */
export function makeCertificate(hosts: readonly string[]): Certificate {
  const { publicKey, privateKey }: { publicKey: KeyObject; privateKey: KeyObject } = generateKeyPairSync('ec', {
    namedCurve: 'prime256v1',
  });
  const algorithm = sequence(OID.ecdsaWithSha256);
  const issuer = name('Docket test');
  const now = Date.now();
  const serial = randomBytes(8);
  serial[0] = 0x40 | ((serial[0] ?? 0) & 0x3f);
  const yes = der(0x01, Buffer.of(0xff));
  const toSign = sequence(
    der(0xa0, der(0x02, Buffer.of(2))),
    der(0x02, serial),
    algorithm,
    issuer,
    sequence(utc(new Date(now - 86_400_000)), utc(new Date(now + 30 * 86_400_000))),
    issuer,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(
      0xa3,
      sequence(
        sequence(OID.basicConstraints, yes, octets(sequence(yes))),
        sequence(OID.subjectAltName, octets(sequence(...hosts.map(altName)))),
      ),
    ),
  );
  const certificate = sequence(toSign, algorithm, bits(sign('sha256', toSign, privateKey)));
  return {
    cert: pem('CERTIFICATE', certificate),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  };
}
