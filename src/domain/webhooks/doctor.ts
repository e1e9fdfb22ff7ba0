/** What `docket doctor` asks of webhooks (configuration, section 2). */
import type { Queryable } from '../../mechanisms/db/pool.ts';
import type { SecretBox } from '../../mechanisms/secrets.ts';
import { sealPurpose } from './signing-secrets.ts';
import { findFailing, findValues } from './store-delivery.ts';

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

/** Codes of enabled subscriptions that reach nobody. */
export async function examineDeliveries(db: Queryable): Promise<string[]> {
  return await findFailing(db);
}
