/** The bundle's section `integrations`: what a call from outside does (configuration, section 3; decisions, "Inbound"). */
import Type, { type Static } from 'typebox';
import { closed } from '../../contract/schemas.ts';
import { checkUnique } from '../../mechanisms/config-checks.ts';
import { defineSection } from '../../mechanisms/config-define.ts';
import { Code, Login, oneOf } from '../../mechanisms/config-schemas.ts';
import type { Change, CompileView, ConfigView, Reference, Report } from '../../mechanisms/config-section.ts';
import { fieldOf, type TypeShape } from '../../mechanisms/config-types.ts';

const COMMANDS = ['object.create', 'object.update', 'comment.add'] as const;
type CommandName = (typeof COMMANDS)[number];

const IntegrationItem = closed({
  code: Code,
  type: oneOf(['inbound-webhook']),
  executionPrincipal: Login,
  enabled: Type.Optional(Type.Boolean()),
  config: closed({
    command: oneOf(COMMANDS),
    typeDefinitionId: Type.Optional(Code),
    mapping: Type.Array(
      closed({
        source: Type.String({
          pattern: '^[^.]+(\\.[^.]+)*$',
          maxLength: 500,
          description: 'a dotted path such as alert.summary',
        }),
        target: Type.String({ minLength: 1, maxLength: 63 }),
      }),
      { minItems: 1, maxItems: 500 },
    ),
    visibility: Type.Optional(oneOf(['public', 'internal'])),
  }),
});

type Item = Static<typeof IntegrationItem>;

export interface IntegrationDefinition {
  code: string;
  type: 'inbound-webhook';
  /** Login; compiled `executionPrincipalId`. */
  executionPrincipal: string;
  enabled: boolean;
  config: {
    command: CommandName;
    /** Code of the type. */
    typeDefinitionId?: string;
    mapping: { source: string; target: string }[];
    visibility?: 'public' | 'internal';
  };
}

/** Targets that are not fields, by command: those that must be mapped, and those that may be. */
const TARGETS: Readonly<
  Record<CommandName, { needed: readonly string[]; possible: readonly string[]; fields: boolean }>
> = {
  'object.create': { needed: [], possible: ['objectId'], fields: true },
  'object.update': { needed: ['objectId', 'expectedRevision'], possible: [], fields: true },
  'comment.add': { needed: ['objectId', 'body'], possible: ['visibility'], fields: false },
};

function knowsField(view: ConfigView, type: string | undefined, code: string): boolean {
  if (type !== undefined) {
    const shape = view.get<TypeShape>('types', type);
    return shape === undefined || fieldOf(shape, code) !== undefined;
  }
  return [...view.active<TypeShape>('types').values()].some((shape) => fieldOf(shape, code) !== undefined);
}

function checkMapping({ config }: IntegrationDefinition, view: ConfigView, report: Report): void {
  const path = ['config', 'mapping'];
  const { needed, possible, fields } = TARGETS[config.command];
  checkUnique(config.mapping, ({ target }) => target, path, 'target', report);
  const targets = config.mapping.map(({ target }) => target);
  for (const target of needed) {
    if (!targets.includes(target))
      report(path, 'REQUIRED', `The command ${config.command} needs a mapping to ${target}.`);
  }
  const known = new Set([...needed, ...possible]);
  if (fields && targets.every((target) => known.has(target))) report(path, 'REQUIRED', 'Map at least one field.');
  for (const [index, target] of targets.entries()) {
    if (known.has(target) || (fields && knowsField(view, config.typeDefinitionId, target))) continue;
    report([...path, index, 'target'], 'UNKNOWN_FIELD', `The command ${config.command} has no target ${target} here.`);
  }
}

function compile(integration: IntegrationDefinition, view: CompileView, report: Report): unknown {
  const { command, typeDefinitionId, visibility } = integration.config;
  if (command === 'object.create' && typeDefinitionId === undefined) {
    report(['config', 'typeDefinitionId'], 'REQUIRED', 'Say of which type the records are.');
  }
  if (command === 'comment.add' && typeDefinitionId !== undefined) {
    report(['config', 'typeDefinitionId'], 'NOT_ALLOWED', 'A comment has no record type; take this out.');
  }
  if (command !== 'comment.add' && visibility !== undefined) {
    report(['config', 'visibility'], 'NOT_ALLOWED', 'Only a comment has a visibility; take this out.');
  }
  checkMapping(integration, view, report);
  const principal = integration.executionPrincipal;
  return { ...integration, executionPrincipalId: view.has('users', principal) ? view.id('users', principal) : null };
}

/** Nobody acts with more rights than they could give themselves (decisions, "Events and webhooks"). */
function rights(change: Change, view: CompileView, actorId: string | null): string[] {
  const { executionPrincipal } = change.definition as IntegrationDefinition;
  const own = view.has('users', executionPrincipal) && view.id('users', executionPrincipal) === actorId;
  return own || change.action === 'archive' ? [] : ['role.assign'];
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
  compile,
  note: (change) => {
    const before = change.stored?.definition as IntegrationDefinition | undefined;
    const both = before?.enabled === true && (change.definition as IntegrationDefinition).enabled;
    return change.action === 'change' && both ? 'enabled: it is disabled, changed and enabled again' : undefined;
  },
});
