/**
 * How commands get the master key. A lost key is never replaced silently. If the database holds secrets that the key cannot
 * open, all commands that need a key fail and say what to do. A new key is created only if no stored secret needs another, or
 * with `--other-key`.
 */
import type { Settings } from '../settings.ts';
import { examineSecrets, type SecretsExamined } from '../domain/webhooks/index.ts';
import type { Database, Queryable } from '../platform/database/pool.ts';
import { lockMasterKey, masterKeyOf, setMasterKey } from '../platform/master-key.ts';
import { findSecretBox, makeSecretBox, type SecretBox } from '../platform/secrets.ts';

export interface KeyExamined extends SecretsExamined {
  /** Undefined if neither the settings nor the data folder hold a key. */
  box: SecretBox | undefined;
  /** True if the database was used with a different key. */
  other: boolean;
}

/** Compares the configured key with the database. Creates no key. */
export async function examineMasterKey(settings: Settings, db: Queryable): Promise<KeyExamined> {
  const box = await findSecretBox(settings);
  const used = await masterKeyOf(db);
  return { box, other: used !== undefined && used !== box?.fingerprint, ...(await examineSecrets(db, box)) };
}

/** The error message for an unusable key, undefined if there is no problem. `settings` names the folder of the key file. */
export function keyTrouble({ box, closed }: KeyExamined, { dataDir }: Pick<Settings, 'dataDir'>): string | undefined {
  if (closed.length === 0) return undefined;
  const codes = closed.join(', ');
  const what =
    box === undefined
      ? `The master key is missing, and the database holds signing secrets that were sealed with it: ${codes}.`
      : `The master key is not the one that signing secrets in the database were sealed with: ${codes}.`;
  return (
    `${what} Set DOCKET_SECRET_KEY to the right key, or put the file master.key back into ${dataDir}. If the key is lost, ` +
    `give each of these secrets a new value and pass it to its receivers: ${rotations(closed)}`
  );
}

/** The commands that give secrets new values under another key. */
export function rotations(codes: readonly string[]): string {
  return codes.map((code) => `docket secrets rotate ${code} --other-key`).join('; ');
}

/**
 * Returns the master key for sealing and opening secrets, and records in the database that it is now in use.
 *
 * @param options `otherKey`: continue although secrets in the database were sealed with another key; `say`: receives a warning
 * @throws Error with a message that says what to do if the key is missing or different
 */
export async function requireMasterKey(
  settings: Settings,
  db: Database,
  options: { otherKey?: boolean; say?: (line: string) => void } = {},
): Promise<SecretBox> {
  return await db.transaction('BEGIN', async (tx) => {
    // The lock prevents sealing with another key between this check and the commit.
    await lockMasterKey(tx);
    const examined = await examineMasterKey(settings, tx);
    const trouble = keyTrouble(examined, settings);
    if (trouble !== undefined && options.otherKey !== true) throw new Error(trouble);
    const box = examined.box ?? (await makeSecretBox(settings.dataDir));
    if (examined.other && trouble === undefined) {
      options.say?.(
        'The master key differs from the one last used with this database; no stored secret needed that one. ' +
          'All processes of a service must use the same key.',
      );
    }
    await setMasterKey(tx, box);
    return box;
  });
}
