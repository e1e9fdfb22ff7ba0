import { defineModule } from '../module.ts';
import { catalogsSection, servicesSection } from './config.ts';
import { catalogRoutes } from './routes.ts';

export const catalog = defineModule({
  name: 'catalog',
  dependsOn: ['objects', 'metadata'],
  operations: catalogRoutes,
  sections: [servicesSection, catalogsSection],
});
