import { dryRunEffects } from '../../platform/module.ts';
import { typesSection } from '../metadata/index.ts';
import { defineModule } from '../module.ts';
import { effectsBy } from './effects.ts';
import { objectChecks } from './health.ts';
import { recordsImpact } from './impact.ts';
import { objectRoutes } from './routes.ts';
import { imageUse, recordProbe } from './store-lookups.ts';

export const objects = defineModule({
  name: 'objects',
  dependsOn: ['metadata'],
  tables: {
    objects: {
      rows: 'Records.',
      replayed: true,
      except: {
        number:
          'The database draws it when the row of history is made already. The check of the search projection (I11) finds it.',
      },
    },
    inline_images: 'Content is compared with its hash and size (I8).',
  },
  operations: objectRoutes,
  // Record types belong to metadata, and their section asks about stored records.
  sections: [typesSection(recordProbe)],
  checks: objectChecks,
  impact: [recordsImpact],
  constraints: { objects_pkey: { code: 'ALREADY_EXISTS', field: 'objectId' } },
  blobUses: [imageUse],
  provides: [dryRunEffects.by(effectsBy)],
});
