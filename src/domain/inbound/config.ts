/**
 * The bundle's section `integrations`: the commands that inbound calls run (docs/spec/configuration.md#bundle,
 * docs/spec/webhooks-and-inbound.md#inbound-integrations).
 */
import { COMMENT_VISIBILITIES } from '../../contract/comment-visibility.ts';
import type { Static } from 'typebox';
import { closed, Code, described, Login, oneOf, optional } from '../../contract/schemas.ts';
import { connectionNotes, connectionRights } from '../../configuration/connections.ts';
import { defineSection } from '../../configuration/define.ts';
import { CodeOf, enabled } from '../../configuration/schemas.ts';
import { COMMANDS, compileIntegration, type IntegrationDefinition, mappingItems } from './registry.ts';

const IntegrationItem = closed({
  code: Code,
  type: described('Kind of integration: another system calls Docket over HTTP.', oneOf(['inbound-webhook'])),
  executionPrincipal: described(
    'Login of the user who owns the integration. Calls have the rights of their caller, never more.',
    Login,
  ),
  enabled: enabled(false),
  config: described(
    'The command that a call runs, and what it makes of the body.',
    closed(
      {
        command: described(
          'What each call does: create a record, update one, or add a comment to one.',
          oneOf(COMMANDS),
        ),
        typeDefinitionId: optional(
          'Code of the record type whose fields the mapping may name. Required for object.create.',
          CodeOf('types'),
        ),
        // Targets are fields, unless the command has an input of that name.
        mapping: mappingItems({ names: { kind: 'field' } }),
        visibility: optional(
          'Readers of the comments of comment.add if the mapping names none. Default: internal.',
          oneOf(COMMENT_VISIBILITIES),
        ),
      },
      { typesAt: 'typeDefinitionId' },
    ),
  ),
});

type Item = Static<typeof IntegrationItem>;

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
  compile: compileIntegration,
  notes: connectionNotes,
});
