/** What `docket doctor` asks of webhooks, and how events without deliveries are dispatched again. */
import type { Database, Queryable } from '../../mechanisms/db/pool.ts';
import { returnToOutbox } from '../../mechanisms/journal.ts';
import type { SecretBox } from '../../mechanisms/secrets.ts';
import { sealPurpose } from './signing-secrets.ts';
import { findMissing, type Missing, missingPlaces, stillMissing } from './store-checks.ts';
import { findFailing, findValues } from './store-delivery.ts';

/** How many of the newest events are looked at without `--deep`. */
const LOOKED_AT = 100_000;
const BATCH = 1000;

export interface SecretsExamined {
  /** Signing secrets that have a value. */
  secrets: number;
  /** Codes of those that the key does not open. */
  closed: string[];
}

/** Which signing secrets in use the master key opens; those that are archived or have run out are not asked. */
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

/** Codes of enabled subscriptions whose last deliveries failed, and events without the deliveries that they should have. */
export async function examineDeliveries(db: Queryable): Promise<{ failing: string[]; missing: Missing }> {
  return { failing: await findFailing(db), missing: await findMissing(db, LOOKED_AT) };
}

/**
 * Puts events without the deliveries that they should have back into the outbox, from which a worker dispatches them. Deliveries
 * that exist are not made again.
 *
 * @returns how many events were put back
 */
export async function redispatch(db: Database): Promise<number> {
  const places = await db.transaction('BEGIN', missingPlaces);
  let returned = 0;
  for (let from = 0; from < places.length; from += BATCH) {
    const batch = places.slice(from, from + BATCH);
    await db.transaction('BEGIN', async (tx) => {
      const missing = await stillMissing(tx, batch);
      await returnToOutbox(tx, missing);
      returned += missing.length;
    });
  }
  return returned;
}
