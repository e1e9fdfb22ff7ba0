/**
 * `node tools/at-least-once.ts [--full]`: kills webhook senders while events are created and reports the deliveries. With
 * `--full`: 10,000 events × 5 subscriptions and 50 kills, with the production leases and limits.
 */
import { parseArgs } from 'node:util';
import { killSenders } from '../test/proofs/webhook-sender-kills.ts';

const { values } = parseArgs({ options: { full: { type: 'boolean', default: false } } });
const began = performance.now();
const say = (line: string): void => {
  process.stderr.write(`${Math.round((performance.now() - began) / 1000)} s: ${line}\n`);
};
const report = await killSenders(
  values.full
    ? { events: 10_000, kills: 50, pauseMs: 1500, limitMs: 10_000, leaseMs: 30_000, patienceMs: 600_000, say }
    : { events: 500, kills: 5, pauseMs: 400, limitMs: 4000, leaseMs: 6000, patienceMs: 30_000, say },
);
const { expected, requests, duplicates, problems } = report;
say(`${expected} deliveries expected, ${requests} requests came, ${duplicates} deliveries succeeded more than once`);
for (const problem of problems.slice(0, 20)) say(problem);
say(problems.length === 0 ? 'nothing was lost, and nothing else arrived' : `${problems.length} things are wrong`);
process.exit(problems.length === 0 ? 0 : 1);
