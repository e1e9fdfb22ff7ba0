/**
 * The bundle's section `integrations`: the commands that inbound calls run (docs/spec/configuration.md#bundle,
 * docs/spec/webhooks-and-inbound.md#inbound-integrations).
 */
import { COMMENT_VISIBILITIES } from '../../contract/comment-visibility.ts';
import type { GlobalRight } from '../../contract/rights.ts';
import Type, { type Static } from 'typebox';
import { closed } from '../../contract/schemas.ts';
import { connectionNotes } from '../../configuration/connections.ts';
import { defineSection } from '../../configuration/define.ts';
import { Code, Login, oneOf } from '../../configuration/schemas.ts';
import type { Change, CompileView, Reference } from '../../configuration/section.ts';
import { COMMANDS, compileIntegration, type IntegrationDefinition, MappingItems } from './registry.ts';

const IntegrationItem = closed({
  code: Code,
  type: oneOf(['inbound-webhook']),
  executionPrincipal: Login,
  enabled: Type.Optional(Type.Boolean()),
  config: closed({
    command: oneOf(COMMANDS),
    typeDefinitionId: Type.Optional(Code),
    mapping: MappingItems,
    visibility: Type.Optional(oneOf(COMMENT_VISIBILITIES)),
  }),
});

type Item = Static<typeof IntegrationItem>;

/**
 * The rights that a change needs, so that no user sets up an integration with more rights than their own
 * (docs/spec/webhooks-and-inbound.md#deliveries).
 */
function rights(change: Change, view: CompileView, actorId: string | null): GlobalRight[] {
  if (change.action === 'archive') return [];
  // As in the API: a caller without `role.assign` must be the execution principal before and after the change.
  const own = [change.stored?.definition, change.definition].every((definition) => {
    if (definition === undefined) return true;
    const { executionPrincipal } = definition as IntegrationDefinition;
    return view.has('users', executionPrincipal) && view.id('users', executionPrincipal) === actorId;
  });
  return own ? [] : ['role.assign'];
}

function references({ executionPrincipal, config }: IntegrationDefinition): Reference[] {
  const type = config.typeDefinitionId;
  return [
    { section: 'users', code: executionPrincipal, path: ['executionPrincipal'] },
    ...(type === undefined ? [] : [{ section: 'types', code: type, path: ['config', 'typeDefinitionId'] }]),
  ];
}

export const integrationsSection = defineSection<Item, IntegrationDefinition>({
  key: 'integrations',
  right: 'integration.manage',
  schema: IntegrationItem,
  rights,
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
