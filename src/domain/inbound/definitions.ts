/**
 * Integrations as they are stored and as they are run (docs/spec/configuration.md#bundle,
 * docs/spec/webhooks-and-inbound.md#inbound-integrations).
 */
import type { CommentVisibility } from '../../contract/comment-visibility.ts';
import type { ConfigSource, DerivedView } from '../../platform/unit-of-work/snapshot.ts';

export const COMMANDS = ['object.create', 'object.update', 'comment.add'] as const;
export type CommandName = (typeof COMMANDS)[number];

export interface Mapped {
  /** A dotted path into the body. */
  source: string;
  /** Code of a field, or the name of another input of the command. */
  target: string;
}

export interface IntegrationDefinition {
  code: string;
  type: 'inbound-webhook';
  /** Login. */
  executionPrincipal: string;
  enabled: boolean;
  config: {
    command: CommandName;
    /** Code of the type. */
    typeDefinitionId?: string;
    mapping: Mapped[];
    visibility?: CommentVisibility;
  };
}

export interface CompiledIntegration extends IntegrationDefinition {
  executionPrincipalId: string | null;
  /** Id of the type. */
  typeId: string | null;
}

export interface Integration extends CompiledIntegration {
  id: string;
  state: 'ACTIVE' | 'ARCHIVED';
}

const slice: DerivedView<ReadonlyMap<string, Integration>> = {
  name: 'inbound',
  build: ({ items }: ConfigSource) =>
    new Map(
      items
        .filter(({ section }) => section === 'integrations')
        .map(({ id, state, compiled }) => [id, { ...(compiled as CompiledIntegration), id, state }]),
    ),
};

/** All integrations by id, including archived ones. */
export function integrations(ctx: { config: { get<T>(slice: DerivedView<T>): T } }): ReadonlyMap<string, Integration> {
  return ctx.config.get(slice);
}
