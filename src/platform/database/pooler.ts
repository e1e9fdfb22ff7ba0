/** Detects a connection pooler in front of the database and checks the settings of its sessions. */
import pg from 'pg';

export interface Between {
  /** The backend process differs from the one that the client connected to: sessions are shared. */
  pooled: boolean;
  /** Problems and their solutions, one sentence each. */
  remarks: string[];
}

const WAIT_MS = 5000;
const NEEDED: readonly (readonly [name: string, value: string])[] = [
  ['statement_timeout', '30s'],
  ['idle_in_transaction_session_timeout', '15s'],
  ['jit', 'off'],
  ['max_parallel_workers_per_gather', '0'],
];

/**
 * Connects without setting any parameters, since a pooler may reject parameters that it does not know.
 *
 * @throws the driver's error if the connection fails
 */
export async function lookBetween(url: string, direct: boolean): Promise<Between> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: WAIT_MS, query_timeout: WAIT_MS });
  client.on('error', () => {});
  await client.connect();
  try {
    const { rows } = await client.query<{ pid: number; user: string; amiss: string[] }>(
      `SELECT pg_backend_pid() AS pid, current_user::text AS user,
         ARRAY(SELECT n.name FROM unnest($1::text[], $2::text[]) AS n (name, value)
           WHERE n.name IN ('jit', 'max_parallel_workers_per_gather') AND current_setting(n.name) <> n.value
             OR n.name LIKE '%timeout' AND current_setting(n.name) = '0') AS amiss`,
      [NEEDED.map(([name]) => name), NEEDED.map(([, value]) => value)],
    );
    const [row] = rows;
    const { processID } = client as unknown as { processID: number | null };
    // A pooler reports its own process id for cancellation, which differs from the backend's.
    if (row === undefined || processID === row.pid) return { pooled: false, remarks: [] };
    return { pooled: true, remarks: remarksOf(row.user, row.amiss, direct) };
  } finally {
    await client.end().catch(() => {});
  }
}

function remarksOf(user: string, amiss: readonly string[], direct: boolean): string[] {
  const remarks = ['DATABASE_URL leads through a pooler: statements are sent without names.'];
  if (amiss.length > 0) {
    const statements = NEEDED.filter(([name]) => amiss.includes(name)).map(
      ([name, value]) => `ALTER ROLE "${user}" SET ${name} = '${value}';`,
    );
    remarks.push(`The pooler's sessions lack settings that Docket relies on; run once: ${statements.join(' ')}`);
  }
  if (!direct) {
    remarks.push(
      'DATABASE_DIRECT_URL is not set: workers run only at their poll intervals, and large indexes may not be built in time.',
    );
  }
  return remarks;
}
