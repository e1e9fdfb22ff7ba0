/** The bundle's sections `services` and `catalogs` (configuration, section 3). */
export { catalogsSection } from './config-catalogs.ts';
export { servicesSection } from './config-services.ts';
