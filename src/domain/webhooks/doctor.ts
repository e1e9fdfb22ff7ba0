/** Checks of webhooks for `docket doctor`, and the repeated dispatch of events without deliveries. */
import type { Database, Queryable } from '../../platform/database/pool.ts';
import { returnToOutbox } from '../../platform/audit/journal.ts';
import type { SecretBox } from '../../platform/secrets.ts';
import { sealPurpose } from './signing-secrets.ts';
import { findMissing, type Missing, missingSeqs, stillMissing } from './store-checks.ts';
import { findFailing, findValues } from './store-delivery.ts';

/** Number of newest events checked without `--deep`. */
const LOOKED_AT = 100_000;
const BATCH = 1000;

export interface SecretsExamined {
  /** Number of signing secrets that have a value. */
  secrets: number;
  /** Codes of secrets that the key cannot open. */
  closed: string[];
}

/** Tries to open all signing secrets in use with the master key. Archived secrets and expired values are not checked. */
export async function examineSecrets(
  db: Queryable,
  box: Pick<SecretBox, 'open'> | undefined,
): Promise<SecretsExamined> {
  const values = await findValues(db);
  const closed = new Set<string>();
  for (const { code, secretId, version, sealed } of values) {
    try {
      if (box === undefined) closed.add(code);
      else box.open(sealed, sealPurpose(secretId, version));
    } catch {
      closed.add(code);
    }
  }
  return { secrets: new Set(values.map(({ code }) => code)).size, closed: [...closed] };
}

/** Codes of enabled subscriptions whose last deliveries failed, and events that lack deliveries. */
export async function examineDeliveries(db: Queryable): Promise<{ failing: string[]; missing: Missing }> {
  return { failing: await findFailing(db), missing: await findMissing(db, LOOKED_AT) };
}

/**
 * Returns events that lack deliveries to the outbox, where a worker dispatches them again. Existing deliveries are not
 * repeated.
 *
 * @returns how many events were returned
 */
export async function redispatch(db: Database): Promise<number> {
  const seqs = await db.transaction('BEGIN', missingSeqs);
  let returned = 0;
  for (let from = 0; from < seqs.length; from += BATCH) {
    const batch = seqs.slice(from, from + BATCH);
    await db.transaction('BEGIN', async (tx) => {
      const missing = await stillMissing(tx, batch);
      await returnToOutbox(tx, missing);
      returned += missing.length;
    });
  }
  return returned;
}
