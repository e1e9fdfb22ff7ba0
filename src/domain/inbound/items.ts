/** An integration as a configuration item: the validation that bundles and API calls share. */
import Type from 'typebox';
import { closed } from '../../contract/schemas.ts';
import { checkUnique } from '../../configuration/checks.ts';
import type { CompileView, ConfigView, Report } from '../../configuration/section.ts';
import { fieldOf, type TypeShape } from '../../configuration/record-types.ts';
import type { CompiledIntegration, IntegrationDefinition } from './definitions.ts';
import { TARGETS } from './rules.ts';

/** The mapping of a call: paths in the body and the command's inputs that they fill. */
export const MappingItems = Type.Array(
  closed({
    source: Type.String({
      pattern: '^[^.]+(\\.[^.]+)*$',
      maxLength: 500,
      description: 'a dotted path such as alert.summary',
    }),
    target: Type.String({ minLength: 1, maxLength: 63 }),
  }),
  { minItems: 1, maxItems: 500 },
);

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

/** Validates the definition and replaces the login and the code by ids. */
export function compile(integration: IntegrationDefinition, view: CompileView, report: Report): CompiledIntegration {
  const { command, typeDefinitionId } = integration.config;
  if (command === 'object.create' && typeDefinitionId === undefined) {
    report(['config', 'typeDefinitionId'], 'REQUIRED', 'Say of which type the records are.');
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
