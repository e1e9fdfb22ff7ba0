/** The bundle's sections `calendars` and `slaPolicies` (docs/spec/configuration.md#bundle). */
export { calendarsSection } from './config-calendars.ts';
export { slaPoliciesSection } from './config-policies.ts';
