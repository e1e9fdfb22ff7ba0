/**
 * Encrypts secrets that the service must be able to read again: AES-256-GCM with a key derived from the master key
 * (docs/spec/configuration.md#command-line). The master key is `DOCKET_SECRET_KEY`, or a file that is created in the data
 * folder.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { link, mkdir, open, readFile, rm } from 'node:fs/promises';
import path from 'node:path';

const FORMAT = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_FILE = 'master.key';

/** A stored secret was encrypted with another master key, or was altered. */
export class SealBroken extends Error {
  constructor() {
    super(
      'A stored secret cannot be decrypted with this master key. Set DOCKET_SECRET_KEY to the key that encrypted it.',
    );
    this.name = 'SealBroken';
  }
}

/**
 * Encrypts and decrypts secrets. `purpose` names the use and location of the value; a value can only be decrypted for the same
 * purpose.
 */
export class SecretBox {
  readonly #key: Buffer;
  /** Identifies the master key, in hex; it cannot be used to decrypt. */
  readonly fingerprint: string;

  constructor(masterKey: string | Uint8Array) {
    this.fingerprint = Buffer.from(hkdfSync('sha256', masterKey, '', 'docket master key fingerprint', 32)).toString(
      'hex',
    );
    this.#key = Buffer.from(hkdfSync('sha256', masterKey, '', 'docket stored secrets', 32));
  }

  /** A key of 32 bytes for another use, such as signatures. Equal purposes give equal keys; none reveals another. */
  deriveKey(purpose: string): Buffer {
    return Buffer.from(hkdfSync('sha256', this.#key, '', `docket derived key ${purpose}`, 32));
  }

  seal(plain: string, purpose: string): Buffer {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.#key, nonce).setAAD(Buffer.from(purpose));
    const text = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
    return Buffer.concat([Buffer.of(FORMAT), nonce, cipher.getAuthTag(), text]);
  }

  /** @throws SealBroken */
  open(sealed: Uint8Array, purpose: string): string {
    const bytes = Buffer.from(sealed);
    const head = 1 + NONCE_BYTES + TAG_BYTES;
    if (bytes[0] !== FORMAT || bytes.length < head) throw new SealBroken();
    const decipher = createDecipheriv('aes-256-gcm', this.#key, bytes.subarray(1, 1 + NONCE_BYTES), {
      authTagLength: TAG_BYTES,
    });
    decipher.setAAD(Buffer.from(purpose)).setAuthTag(bytes.subarray(1 + NONCE_BYTES, head));
    try {
      return Buffer.concat([decipher.update(bytes.subarray(head)), decipher.final()]).toString('utf8');
    } catch {
      throw new SealBroken();
    }
  }
}

/** Random bytes for a new secret. */
export function secretBytes(count: number): Buffer {
  return randomBytes(count);
}

/** The box with the key from the settings or the data folder; undefined if there is none. Does not create a key. */
export async function findSecretBox(settings: {
  secretKey: string | undefined;
  dataDir: string;
}): Promise<SecretBox | undefined> {
  const key = settings.secretKey ?? (await readKey(path.join(settings.dataDir, KEY_FILE)));
  return key === undefined ? undefined : new SecretBox(key);
}

/**
 * Creates the key in the data folder. Any number of processes may do so concurrently; all get the same key. Only for a database
 * that contains no secrets encrypted with another key.
 */
export async function makeSecretBox(dataDir: string): Promise<SecretBox> {
  return new SecretBox(await makeKey(dataDir, path.join(dataDir, KEY_FILE)));
}

async function readKey(file: string): Promise<string | undefined> {
  try {
    const key = (await readFile(file, 'utf8')).trim();
    if (key.length < 32) throw new Error(`${file} holds no master key; put the right one back.`);
    return key;
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Written completely under a temporary name first: an incomplete key must never be used. */
async function makeKey(folder: string, file: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  const handle = await open(draft, 'wx', 0o600);
  try {
    await handle.writeFile(`${randomBytes(32).toString('base64url')}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  try {
    await link(draft, file);
  } catch (error) {
    // Another process was first; its key is used.
    if ((error as { code?: string }).code !== 'EEXIST') throw error;
  } finally {
    await rm(draft, { force: true });
  }
  const key = await readKey(file);
  if (key === undefined) throw new Error(`${file} went away while it was made.`);
  return key;
}
