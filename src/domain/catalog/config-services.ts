/** The bundle's section `services`. */
import Type, { type Static } from 'typebox';
import { closed } from '../../contract/schemas.ts';
import {
  type Audience,
  AudienceSchema,
  audienceReferences,
  compileAudience,
  normaliseAudience,
} from '../../configuration/audience.ts';
import { defineSection } from '../../configuration/define.ts';
import { Code, Description, type Localized, Name } from '../../configuration/schemas.ts';

const ServiceItem = closed({
  code: Code,
  name: Type.Optional(Name),
  description: Type.Optional(Description),
  audience: Type.Optional(AudienceSchema),
});

export interface ServiceDefinition {
  code: string;
  name: Localized;
  description?: Localized;
  audience: Audience;
}

export const servicesSection = defineSection<Static<typeof ServiceItem>, ServiceDefinition>({
  key: 'services',
  schema: ServiceItem,
  normalise: (item) => ({
    code: item.code,
    name: (item.name as Localized | undefined) ?? item.code,
    ...(item.description === undefined ? {} : { description: item.description as Localized }),
    audience: normaliseAudience(item.audience),
  }),
  references: (service) => audienceReferences(service.audience, ['audience']),
  compile: (service, view, report) => ({
    ...service,
    audience: compileAudience(service.audience, ['audience'], view, report),
  }),
});
