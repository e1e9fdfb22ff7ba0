/** Failures of background tasks. */
import type { Module } from '../module.ts';
import { counter } from './gauges.ts';

const FAILURES = 'docket_background_failures_total';
const FAILURES_HELP = 'Failed runs of background tasks; cause: database if it did not respond, else own.';

export const observability: Module = {
  name: 'observability',
  gauges: ({ outages }) =>
    [...outages.failures].flatMap(([task, counts]) =>
      Object.entries(counts).map(([cause, value]) => ({
        ...counter(FAILURES, FAILURES_HELP, value),
        labels: { task, cause },
      })),
    ),
};
