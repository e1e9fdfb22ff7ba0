/** The bundle's sections `calendars` and `slaPolicies` (configuration, section 3). */
export { calendarsSection } from './config-calendars.ts';
export { slaPoliciesSection } from './config-policies.ts';
