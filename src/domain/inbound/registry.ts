/**
 * Integrations as they are stored and as they are run, and the validation that bundles and API calls share
 * (docs/spec/configuration.md#bundle, docs/spec/webhooks-and-inbound.md#inbound-integrations).
 */
import type { ItemState } from '../../contract/state.ts';
import Type from 'typebox';
import type { CommentVisibility } from '../../contract/comment-visibility.ts';
import { closed, described } from '../../contract/schemas.ts';
import type { Names } from '../../configuration/naming.ts';
import { checkUnique } from '../../configuration/checks.ts';
import { fieldOf, type TypeShape } from '../../configuration/record-types.ts';
import type { CompileView, ConfigView, Report } from '../../configuration/section.ts';
import { problem } from '../../lib/problem.ts';
import type { ConfigSource, DerivedView } from '../../platform/unit-of-work/snapshot.ts';

export const COMMANDS = ['object.create', 'object.update', 'comment.add'] as const;
export type CommandName = (typeof COMMANDS)[number];

/** Inputs of each command that are not fields: required ones, those of which one is required, and optional ones. */
export const TARGETS: Readonly<
  Record<
    CommandName,
    { needed: readonly string[]; either: readonly string[]; possible: readonly string[]; fields: boolean }
  >
> = {
  'object.create': { needed: [], either: [], possible: ['objectId'], fields: true },
  'object.update': { needed: ['objectId', 'expectedRevision'], either: [], possible: [], fields: true },
  // People name records by their numbers.
  'comment.add': { needed: ['body'], either: ['objectId', 'number'], possible: ['visibility'], fields: false },
};

interface Mapped {
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
  state: ItemState;
}

const inboundView: DerivedView<ReadonlyMap<string, Integration>> = {
  name: 'inbound',
  build: ({ items }: ConfigSource) =>
    new Map(
      items
        .filter(({ section }) => section === 'integrations')
        .map(({ id, state, compiled }) => [id, { ...(compiled as CompiledIntegration), id, state }]),
    ),
};

/** All integrations by id, including archived ones. */
export function integrations(ctx: { config: { get<T>(view: DerivedView<T>): T } }): ReadonlyMap<string, Integration> {
  return ctx.config.get(inboundView);
}

// ---------------------------------------------------------------- validation

const Target = Type.String({ minLength: 1, maxLength: 63 });

/**
 * The mapping of a call: paths in the body and the command's inputs that they fill. The bundle annotates the targets, which are
 * codes.
 */
export function mappingItems(annotations: { names?: Names } = {}) {
  return described(
    'Which value of the body of a call fills which input of the command. A missing value leaves its input out.',
    Type.Array(
      closed({
        source: described(
          'Dotted path into the body of the call, such as alert.labels.host or items.0.name.',
          Type.String({
            pattern: '^[^.]+(\\.[^.]+)*$',
            maxLength: 500,
            phrase: { phrase: 'DOTTED_PATH', example: 'alert.summary' },
          }),
        ),
        target: described(
          'Code of a field, or an input of the command: objectId, expectedRevision, number, body or visibility.',
          { ...Target, ...annotations },
        ),
      }),
      { minItems: 1, maxItems: 500 },
    ),
  );
}

function knowsField(view: ConfigView, type: string | undefined, code: string): boolean {
  if (type !== undefined) {
    const shape = view.get<TypeShape>('types', type);
    return shape === undefined || fieldOf(shape, code) !== undefined;
  }
  return [...view.active<TypeShape>('types').values()].some((shape) => fieldOf(shape, code) !== undefined);
}

function checkMapping({ config }: IntegrationDefinition, view: ConfigView, report: Report): void {
  const path = ['config', 'mapping'];
  const { needed, either, possible, fields } = TARGETS[config.command];
  checkUnique(config.mapping, ({ target }) => target, path, 'target', report);
  const targets = config.mapping.map(({ target }) => target);
  for (const target of needed) {
    if (!targets.includes(target)) report(path, problem('TARGET_REQUIRED', { command: config.command, target }));
  }
  const [first] = either;
  if (first !== undefined && !targets.some((target) => either.includes(target))) {
    report(path, problem('TARGET_REQUIRED', { command: config.command, target: first }));
  }
  const known = new Set([...needed, ...either, ...possible]);
  if (fields && targets.every((target) => known.has(target))) report(path, problem('NO_FIELD_MAPPED'));
  for (const [index, target] of targets.entries()) {
    if (known.has(target) || (fields && knowsField(view, config.typeDefinitionId, target))) continue;
    report([...path, index, 'target'], problem('COMMAND_HAS_NO_TARGET', { command: config.command, target }));
  }
}

/** Validates the definition and replaces the login and the code by ids. */
export function compileIntegration(
  integration: IntegrationDefinition,
  view: CompileView,
  report: Report,
): CompiledIntegration {
  const { command, typeDefinitionId } = integration.config;
  if (command === 'object.create' && typeDefinitionId === undefined) {
    report(['config', 'typeDefinitionId'], problem('RECORD_TYPE_REQUIRED'));
  }
  checkMapping(integration, view, report);
  const principal = integration.executionPrincipal;
  const idOf = (section: string, code: string | undefined): string | null =>
    code !== undefined && view.has(section, code) ? view.id(section, code) : null;
  return {
    ...integration,
    executionPrincipalId: idOf('users', principal),
    typeId: idOf('types', typeDefinitionId),
  };
}
