/** Whether a process can serve requests. */
import type { BlobHealth } from '../blobs/health.ts';
import type { VersionWatcher } from '../unit-of-work/versions.ts';

export interface Readiness {
  ok: boolean;
  /** Parts that cannot be used while the rest can: calls that need them fail. */
  degraded: readonly string[];
  checks: Readonly<Record<string, unknown>>;
}

/** Load balancers wait about this long for readiness. A database that is only slow must not make a process unready. */
const PATIENCE_MS = 5000;

/**
 * A process is ready if the database answers. An unavailable file store only fails calls that need files, so the process stays
 * ready. If the store never answered since the start, its settings are probably wrong, and the process is not ready.
 */
export async function readiness(versions: VersionWatcher, health: BlobHealth): Promise<Readiness> {
  try {
    await versions.fresh(PATIENCE_MS);
  } catch {
    return { ok: false, degraded: [], checks: { database: 'unavailable' } };
  }
  const state = await health.state();
  const checks = { database: 'ok', blobs: state === 'ok' ? 'ok' : 'unavailable' };
  return { ok: state !== 'never', degraded: state === 'ok' ? [] : ['blobs'], checks };
}
