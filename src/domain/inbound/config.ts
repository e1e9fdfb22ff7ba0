/**
 * The bundle's section `integrations`: the commands that inbound calls run (docs/spec/configuration.md#bundle,
 * docs/spec/webhooks-and-inbound.md#inbound-integrations).
 */
import { COMMENT_VISIBILITIES } from '../../contract/comment-visibility.ts';
import Type, { type Static } from 'typebox';
import { closed } from '../../contract/schemas.ts';
import { connectionNotes, connectionRights } from '../../configuration/connections.ts';
import { defineSection } from '../../configuration/define.ts';
import { Code, CodeOf, Login, oneOf } from '../../configuration/schemas.ts';
import type { Reference } from '../../configuration/section.ts';
import { COMMANDS, compileIntegration, type IntegrationDefinition, MappingItems } from './registry.ts';

const { source, target } = MappingItems.items.properties;

/** Targets are fields, unless the command has an input of that name. */
const Mapping = Type.Array(closed({ source, target: { ...target, names: { kind: 'field' } } }), {
  minItems: 1,
  maxItems: 500,
});

const IntegrationItem = closed({
  code: Code,
  type: oneOf(['inbound-webhook']),
  executionPrincipal: Login,
  enabled: Type.Optional(Type.Boolean()),
  config: closed(
    {
      command: oneOf(COMMANDS),
      typeDefinitionId: Type.Optional(CodeOf('types')),
      mapping: Mapping,
      visibility: Type.Optional(oneOf(COMMENT_VISIBILITIES)),
    },
    { typesAt: 'typeDefinitionId' },
  ),
});

type Item = Static<typeof IntegrationItem>;

function references({ executionPrincipal, config }: IntegrationDefinition): Reference[] {
  const type = config.typeDefinitionId;
  return [
    { section: 'users', code: executionPrincipal, path: ['executionPrincipal'] },
    ...(type === undefined ? [] : [{ section: 'types', code: type, path: ['config', 'typeDefinitionId'] }]),
  ];
}

export const integrationsSection = defineSection<Item, IntegrationDefinition>({
  key: 'integrations',
  summary: 'Integrations: calls of other systems that run a command.',
  right: 'integration.manage',
  schema: IntegrationItem,
  rights: connectionRights,
  normalise: (item) => ({
    code: item.code,
    type: item.type,
    executionPrincipal: item.executionPrincipal,
    enabled: item.enabled ?? false,
    config: item.config,
  }),
  references,
  compile: compileIntegration,
  notes: connectionNotes,
});
