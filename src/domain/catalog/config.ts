/** The bundle's sections `services` and `catalogs` (docs/spec/configuration.md#bundle). */
export { catalogsSection } from './config-catalogs.ts';
export { servicesSection } from './config-services.ts';
