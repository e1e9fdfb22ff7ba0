/** The bundle's section `macros`: prepared comments and changes of records (docs/reference/macros.md). */
import Type, { type Static } from 'typebox';
import { checkUnique } from '../../configuration/checks.ts';
import { defineSection } from '../../configuration/define.ts';
import { CodeOf, SetSchema, TransitionCode } from '../../configuration/schemas.ts';
import type { CompileView, Report } from '../../configuration/section.ts';
import { checkTemplate } from '../../configuration/templates.ts';
import { compileSet } from '../../configuration/values.ts';
import { COMMENT_VISIBILITIES } from '../../contract/comment-visibility.ts';
import {
  closed,
  Code,
  described,
  LOCALE,
  type Localized,
  localized,
  Name,
  oneOf,
  optional,
} from '../../contract/schemas.ts';
import { problem } from '../../lib/problem.ts';
import { checkValue, type FieldDefinition, type TypeDefinition, type WorkflowDefinition } from '../metadata/index.ts';
import type { CompiledMacro, MacroDefinition } from './macros.ts';

/** Maximum length of a comment's text in characters. The console reads the texts of all macros of a record type at once. */
const LONGEST_BODY = 10_000;

const Body = {
  ...described(
    'Text in Markdown, or one text for each locale. {{ CODE }} is replaced by the value of a field that the user may read.',
    localized(LONGEST_BODY),
  ),
  names: { kind: 'template' },
};

const MacroItem = closed(
  {
    code: Code,
    name: Type.Optional(Name),
    types: described(
      'Codes of the record types that offer the macro. Each must have the transition and the fields that it uses.',
      Type.Array(CodeOf('types'), { minItems: 1, maxItems: 100 }),
    ),
    comment: optional(
      'A prepared comment, which the user can edit before it is sent.',
      closed({
        visibility: described(
          'Readers of the comment: public is for the requester too, internal only for those who may see internal comments.',
          oneOf(COMMENT_VISIBILITIES),
        ),
        body: Body,
      }),
    ),
    transition: optional('Code of a transition that the macro makes, with the rights of the user.', TransitionCode),
    set: optional(
      'Field code to value that the macro writes; null clears the field. $reason and $decisionReport fill the form of the transition.',
      SetSchema,
    ),
    roles: optional(
      'Codes of the roles whose holders are offered the macro. Absent: every user.',
      Type.Array(CodeOf('roles'), { minItems: 1, maxItems: 100 }),
    ),
  },
  { typesAt: 'types' },
);

function normalise(item: Static<typeof MacroItem>): MacroDefinition {
  return {
    code: item.code,
    name: (item.name as Localized | undefined) ?? item.code,
    types: item.types,
    ...(item.comment === undefined
      ? {}
      : { comment: { visibility: item.comment.visibility, body: item.comment.body as Localized } }),
    ...(item.transition === undefined ? {} : { transition: item.transition }),
    set: (item.set ?? {}) as Record<string, unknown>,
    ...(item.roles === undefined ? {} : { roles: item.roles }),
  };
}

/** A text, or texts by locale. */
function isText(value: unknown): value is Localized {
  if (typeof value === 'string') return value !== '';
  if (typeof value !== 'object' || value === null || Object.keys(value).length === 0) return false;
  return Object.entries(value).every(([locale, text]) => new RegExp(LOCALE).test(locale) && typeof text === 'string');
}

/** Checks that each type has the transition, and the transition the form fields that `set` names with a leading `$`. */
function checkTransition(
  macro: MacroDefinition,
  types: readonly TypeDefinition[],
  view: CompileView,
  report: Report,
): void {
  const remarks = Object.keys(macro.set).filter((code) => code.startsWith('$'));
  for (const code of remarks) {
    if (!isText(macro.set[code])) report(['set', code], problem('WRONG_TYPE', { expected: { phrase: 'TEXT' } }));
  }
  if (macro.transition === undefined) {
    for (const code of remarks) report(['set', code], problem('NO_FIELD', { field: code }));
    return;
  }
  for (const type of types) {
    const workflow = type.workflow === undefined ? undefined : view.get<WorkflowDefinition>('workflows', type.workflow);
    const transition = workflow?.transitions.find(({ code }) => code === macro.transition);
    if (transition === undefined) {
      return report(['transition'], problem('ROLE_TRANSITION_MISSING', { code: macro.transition }));
    }
    const missing = remarks.find((code) => !transition.fields.some((field) => field.code === code));
    if (missing !== undefined) return report(['set', missing], problem('NO_FIELD', { field: missing }));
  }
}

function compile(macro: MacroDefinition, view: CompileView, report: Report): CompiledMacro {
  checkUnique(macro.types, (code) => code, ['types'], '', report);
  checkUnique(macro.roles ?? [], (code) => code, ['roles'], '', report);
  if (macro.comment === undefined && macro.transition === undefined && Object.keys(macro.set).length === 0) {
    report([], problem('MACRO_DOES_NOTHING'));
  }
  const types = macro.types.flatMap((code) => view.get<TypeDefinition>('types', code) ?? []);
  checkTransition(macro, types, view, report);
  if (macro.comment !== undefined) checkTemplate(macro.comment.body, ['comment', 'body'], types, report);
  const remarks = Object.entries(macro.set).filter(([code]) => code.startsWith('$'));
  const values = Object.fromEntries(Object.entries(macro.set).filter(([code]) => !code.startsWith('$')));
  const fields = new Map(types.map((type) => [type.code, new Map(type.fields.map((field) => [field.code, field]))]));
  const check = (field: FieldDefinition, value: unknown) => checkValue(field, value, '');
  const set = compileSet(values, ['set'], fields, check, { view, report });
  const { roles, ...rest } = macro;
  const idsOf = (section: string, codes: readonly string[]): string[] =>
    codes.flatMap((code) => (view.has(section, code) ? [view.id(section, code)] : []));
  return {
    ...rest,
    set: { ...set, ...Object.fromEntries(remarks) },
    typeIds: idsOf('types', macro.types),
    roleIds: roles === undefined ? null : idsOf('roles', roles),
  };
}

export const macrosSection = defineSection<Static<typeof MacroItem>, MacroDefinition>({
  key: 'macros',
  summary: 'Prepared replies and changes for agents.',
  schema: MacroItem,
  normalise,
  compile,
});
