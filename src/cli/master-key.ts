/**
 * How commands come by the master key. A lost key is never replaced in silence: where the database holds secrets that the key
 * does not open, everything that would use a key refuses and says what to do. A key is made only for a database that needs none.
 */
import type { Settings } from '../config.ts';
import { examineSecrets, type SecretsExamined } from '../domain/webhooks/door.ts';
import type { Database, Queryable } from '../mechanisms/db/pool.ts';
import { lockMasterKey, masterKeyOf, setMasterKey } from '../mechanisms/master-key.ts';
import { findSecretBox, makeSecretBox, type SecretBox } from '../mechanisms/secrets.ts';

export interface KeyExamined extends SecretsExamined {
  /** Undefined: neither the settings nor the data folder hold a key. */
  box: SecretBox | undefined;
  /** Whether the database was used with another key than this one. */
  other: boolean;
}

/** Holds the key of the settings against the database; makes none. */
export async function examineMasterKey(settings: Settings, db: Queryable): Promise<KeyExamined> {
  const box = await findSecretBox(settings);
  const used = await masterKeyOf(db);
  return { box, other: used !== undefined && used !== box?.fingerprint, ...(await examineSecrets(db, box)) };
}

/** What is wrong with the key and how to go on; undefined where nothing is. `settings` says where the key is looked for. */
export function keyTrouble({ box, closed }: KeyExamined, { dataDir }: Pick<Settings, 'dataDir'>): string | undefined {
  if (closed.length === 0) return undefined;
  const codes = closed.join(', ');
  const what =
    box === undefined
      ? `The master key is missing, and the database holds signing secrets that were sealed with it: ${codes}.`
      : `The master key is not the one that signing secrets in the database were sealed with: ${codes}.`;
  return (
    `${what} Set DOCKET_SECRET_KEY to the right key, or put the file master.key back into ${dataDir}. If the key is lost, ` +
    `give each of these secrets a new value (its receivers need it too): ${rotations(closed)}`
  );
}

/** The commands that give secrets new values under another key. */
export function rotations(codes: readonly string[]): string {
  return codes.map((code) => `docket secrets rotate ${code} --other-key`).join('; ');
}

/**
 * The master key of a service or command that seals and opens secrets. From now on the database is used with it.
 *
 * @param options `otherKey`: go on although secrets in the database were sealed with another key; `say`: for a warning
 * @throws Error with a sentence that says what to do, where the key is missing or another
 */
export async function requireMasterKey(
  settings: Settings,
  db: Database,
  options: { otherKey?: boolean; say?: (line: string) => void } = {},
): Promise<SecretBox> {
  return await db.transaction('BEGIN', async (tx) => {
    // Nothing is sealed with another key between the look at what is there and the end of this.
    await lockMasterKey(tx);
    const examined = await examineMasterKey(settings, tx);
    const trouble = keyTrouble(examined, settings);
    if (trouble !== undefined && options.otherKey !== true) throw new Error(trouble);
    const box = examined.box ?? (await makeSecretBox(settings.dataDir));
    if (examined.other && trouble === undefined) {
      options.say?.(
        'The master key is another than the one that this database was used with before; no stored secret needed that one. ' +
          'All processes of a service must have the same key.',
      );
    }
    await setMasterKey(tx, box);
    return box;
  });
}
