/**
 * Sends the queries of the dashboard to Prometheus: `node check.mjs http://127.0.0.1:9090`. Prints the panels that have no
 * data; exits with 1 if Prometheus rejects a query.
 */
import { readFileSync } from 'node:fs';

const [address = 'http://127.0.0.1:9090'] = process.argv.slice(2);
const { panels } = JSON.parse(readFileSync(new URL('docket.json', import.meta.url), 'utf8'));
const empty = new Set();
let queries = 0;
for (const { title, targets = [] } of panels) {
  for (const { expr } of targets) {
    queries++;
    const query = expr.replaceAll('$job', 'docket').replaceAll('$__rate_interval', '1m');
    const response = await fetch(`${address}/api/v1/query?${new URLSearchParams({ query })}`);
    const { status, error, data } = await response.json();
    if (status !== 'success') {
      console.log(`${title}: ${error}`);
      process.exitCode = 1;
    } else if (data.result.length === 0) empty.add(title);
  }
}
console.log(`${queries} queries; no data yet: ${[...empty].join(', ') || 'none'}`);
