/** Units of work: replays of requests, group commit, and the versions of rights and configuration. */
import { instant } from '../clock.ts';
import type { Module } from '../module.ts';
import { counter } from '../observability/gauges.ts';
import { purgeIdempotency } from './idempotency.ts';

export const unitOfWork: Module = {
  name: 'unit-of-work',
  tables: {
    cache_versions: 'Counters that tell processes to read again.',
    idempotency: 'Kept for a day; its answers are held against their effects (I5).',
  },
  tasks: ({ db, clock }) => [
    {
      name: 'idempotency',
      everyMs: 600_000,
      run: async () => (await purgeIdempotency(db, instant(clock.now()))) === 5000,
    },
  ],
  gauges: ({ versions, work }) => [
    counter('docket_config_loads_total', 'Number of times the configuration was reloaded.', versions.reads.config),
    counter(
      'docket_rights_cache_invalidations_total',
      'Number of times the cache of keys and rights was dropped.',
      versions.reads.rights,
    ),
    {
      name: 'docket_cache_version_age_seconds',
      help: 'Time since the versions of rights and configuration were last read; above 1, requests wait for the next read.',
      value: Math.max(0, versions.age / 1000),
    },
    counter('docket_written_units_total', 'Units of work that were written.', work.counts.units),
    counter('docket_write_statements_total', 'Statements that wrote them (group commit).', work.counts.statements),
    counter(
      'docket_write_groups_refused_total',
      'Groups that the database refused; their units were written alone.',
      work.counts.refused,
    ),
  ],
};
