/** Content of files: what no row refers to any more is deleted. */
import { collect, type Module } from '../module.ts';
import { counter } from '../observability/gauges.ts';
import { sweepBlobs } from './register.ts';

const ERRORS = 'docket_content_errors_total';
const ERRORS_HELP = 'Files that could not be served: missing in the file store, or damaged there.';

export const blobStore: Module = {
  name: 'blobs',
  tables: {
    blobs: 'When content was last touched; content itself is compared with its hash (I8).',
  },
  tasks: ({ db, clock, blobs, modules }) => [
    {
      name: 'blobs',
      everyMs: 3_600_000,
      run: async () => {
        await sweepBlobs(db, blobs, collect(modules, 'blobUses'), clock.now());
        return false;
      },
    },
  ],
  gauges: ({ holder }) =>
    Object.entries(holder.errors).map(([error, value]) => ({
      ...counter(ERRORS, ERRORS_HELP, value),
      labels: { error },
    })),
};
