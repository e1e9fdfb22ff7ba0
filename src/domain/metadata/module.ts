import { defineModule } from '../module.ts';
import { settingsSection } from './config-settings.ts';
import { metadataRoutes } from './routes.ts';
import { ensureNumbering } from './store.ts';

export const metadata = defineModule({
  name: 'metadata',
  dependsOn: [],
  operations: metadataRoutes,
  sections: [settingsSection],
  prepare: ensureNumbering,
});
