/** What `docket doctor` asks of webhooks (configuration, section 2). */
import type { Queryable } from '../../mechanisms/db/pool.ts';
import type { SecretBox } from '../../mechanisms/secrets.ts';
import { sealPurpose } from './signing-secrets.ts';
import { findFailing, findValues } from './store-delivery.ts';

/** Codes of signing secrets that this master key does not open, and of enabled subscriptions that reach nobody. */
export async function examineWebhooks(
  db: Queryable,
  box: Pick<SecretBox, 'open'>,
): Promise<{ secrets: number; sealed: string[]; failing: string[] }> {
  const values = await findValues(db);
  const sealed = new Set<string>();
  for (const { code, secretId, version, sealed: bytes } of values) {
    try {
      box.open(bytes, sealPurpose(secretId, version));
    } catch {
      sealed.add(code);
    }
  }
  return {
    secrets: new Set(values.map(({ code }) => code)).size,
    sealed: [...sealed],
    failing: await findFailing(db),
  };
}
