/**
 * Macros: prepared comments and changes of records. Using one runs the ordinary commands with the caller's rights, in one unit
 * of work.
 */
import { type CommentVisibility, rightForVisibility } from '../../contract/comment-visibility.ts';
import { canName } from '../../contract/rights.ts';
import { isActive } from '../../contract/state.ts';
import { Fault, invalidValues } from '../../lib/fault.ts';
import { pointer } from '../../lib/json.ts';
import { problemAt } from '../../lib/problem.ts';
import type { ReadContext, WriteContext } from '../../platform/unit-of-work/context.ts';
import type { ConfigSource, DerivedView } from '../../platform/unit-of-work/snapshot.ts';
import { addCommentWithFiles } from '../attachments/index.ts';
import { type LocalizedText, localized, named, registry, setValue } from '../metadata/index.ts';
import { liveRevision, requireAction, requireVisible, updateObject, type VisibleObject } from '../objects/index.ts';
import { findTransition, possibleTransitions, type TransitionAnswer, transitionObject } from '../workflow/index.ts';
import { templateValues } from './template-values.ts';
import { fillTemplate, placeholders } from '../../lib/template.ts';

export interface MacroDefinition {
  code: string;
  name: LocalizedText;
  /** Codes of record types. */
  types: string[];
  comment?: { visibility: CommentVisibility; body: LocalizedText };
  /** Code of a transition. */
  transition?: string;
  set: Record<string, unknown>;
  /** Codes of the roles whose holders may use it; absent: everybody. */
  roles?: string[];
}

export interface CompiledMacro extends Omit<MacroDefinition, 'roles'> {
  typeIds: string[];
  /** Null: everybody may use it. */
  roleIds: string[] | null;
}

interface Macro extends CompiledMacro {
  id: string;
}

/** Type id → active macros of the type, by code. */
const macroView: DerivedView<ReadonlyMap<string, readonly Macro[]>> = {
  name: 'desk.macros',
  build: ({ items }: ConfigSource) => {
    const byType = new Map<string, Macro[]>();
    for (const item of items) {
      if (item.section !== 'macros' || !isActive(item)) continue;
      const macro: Macro = { ...(item.compiled as CompiledMacro), id: item.id };
      for (const typeId of macro.typeIds) byType.set(typeId, [...(byType.get(typeId) ?? []), macro]);
    }
    for (const macros of byType.values()) macros.sort((a, b) => (a.code < b.code ? -1 : 1));
    return byType;
  },
};

/** The macros of the record's type that the caller's roles may use. */
function macrosFor(ctx: ReadContext, object: VisibleObject): readonly Macro[] {
  const all = ctx.config.get(macroView).get(object.type.id) ?? [];
  return all.filter(({ roleIds }) => roleIds === null || roleIds.some((id) => ctx.actor.roles.includes(id)));
}

type MacroStep = 'comment' | 'transition' | 'set';

interface MacroAnswer {
  id: string;
  code: string;
  name: string;
  comment: { visibility: CommentVisibility; body: string } | null;
  transition: TransitionAnswer | null;
  set: Record<string, unknown>;
  refused: MacroStep[];
}

/**
 * The macros for a record, with their texts filled.
 *
 * @throws Fault NOT_FOUND
 */
export async function listMacros(ctx: ReadContext, objectId: string): Promise<MacroAnswer[]> {
  const object = await requireVisible(ctx, objectId);
  const macros = macrosFor(ctx, object);
  const possible = possibleTransitions(ctx, object);
  const comments = await filledComments(ctx, object, macros);
  return macros.map((macro, index) => {
    const { id, code, name } = macro;
    const transition = possible.find((one) => one.code === macro.transition) ?? null;
    const writes = setCodes(object, macro).filter((field) => field.startsWith('$') || canName(object.right, field));
    return {
      id,
      code,
      name: named(ctx, name),
      comment: comments[index] ?? null,
      transition,
      set: Object.fromEntries(writes.map((field) => [field, valueToSet(ctx, object, macro, field)])),
      refused: refusedParts(ctx, object, macro, transition !== null),
    };
  });
}

interface PreparedComment {
  visibility: CommentVisibility;
  body: string;
}

/** The comments of the macros in the caller's language, with the values of the record; undefined for one without comment. */
async function filledComments(
  ctx: ReadContext,
  object: VisibleObject,
  macros: readonly Macro[],
): Promise<(PreparedComment | undefined)[]> {
  const { defaultLocale } = registry(ctx).settings;
  const bodies = macros.map(({ comment }) =>
    comment === undefined ? '' : localized(comment.body, ctx.locale ?? defaultLocale, defaultLocale),
  );
  const valueOf = await templateValues(ctx, object, new Set(bodies.flatMap(placeholders)));
  return macros.map(({ comment }, index) =>
    comment === undefined
      ? undefined
      : { visibility: comment.visibility, body: fillTemplate(bodies[index] ?? '', valueOf) },
  );
}

function valueToSet(ctx: ReadContext, object: VisibleObject, { set }: Macro, code: string): unknown {
  const field = object.version.fields.get(code);
  if (field !== undefined) return setValue(ctx, field, set[code]);
  const { defaultLocale } = registry(ctx).settings;
  return localized(set[code] as LocalizedText, ctx.locale ?? defaultLocale, defaultLocale);
}

/** What the macro sets on this record. A record of an older version of its type may lack some of the fields. */
function setCodes({ version }: VisibleObject, { set }: Macro): string[] {
  return Object.keys(set).filter((code) => code.startsWith('$') || version.fields.has(code));
}

/** The fields that the macro sets outside of the form of its transition. They need the right `update`. */
function besideForm(ctx: ReadContext, object: VisibleObject, macro: Macro): string[] {
  const form = formOf(findTransition(ctx, object, macro.transition));
  return setCodes(object, macro).filter((code) => !form.has(code));
}

function formOf(transition: ReturnType<typeof findTransition>): Set<string> {
  return new Set(transition?.fields.map(({ code }) => code));
}

/** What the macro does that the caller may not do on the record now. */
function refusedParts(ctx: ReadContext, object: VisibleObject, macro: Macro, possible: boolean): MacroStep[] {
  const { right } = object;
  const refused: MacroStep[] = [];
  const active = isActive(object.row);
  const own = macro.comment === undefined ? null : rightForVisibility(macro.comment.visibility);
  if (macro.comment !== undefined && !(active && right.can('comment.create') && (own === null || right.can(own)))) {
    refused.push('comment');
  }
  if (macro.transition !== undefined && !possible) refused.push('transition');
  const beside = besideForm(ctx, object, macro);
  const writable = (code: string): boolean => code.startsWith('$') || right.canWrite(code);
  if (!setCodes(object, macro).every(writable) || (beside.length > 0 && !(active && right.can('update')))) {
    refused.push('set');
  }
  return refused;
}

export interface MacroUse {
  objectId: string;
  macroId: string;
  expectedRevision: number;
  /** Replaces the prepared comment; absent: the comment is added as it is prepared. */
  comment?: { body: string; visibility: CommentVisibility; attachmentIds?: readonly string[] };
  /** Values of the transition's form; they override those of the macro. */
  values?: Record<string, unknown>;
}

/**
 * Uses a macro: comment, transition and fields, all or nothing. The rights to all parts are checked before anything is planned.
 *
 * @throws Fault NOT_FOUND, INVALID_REQUEST (no such macro here), RIGHT_MISSING, ARCHIVED, REVISION_CONFLICT, INVALID_VALUES and
 *   the faults of a transition
 */
export async function applyMacro(
  ctx: WriteContext,
  input: MacroUse,
): Promise<{ object: { id: string; revision: number }; commentId: string | null }> {
  const object = await requireVisible(ctx, input.objectId);
  const macro = macrosFor(ctx, object).find(({ id }) => id === input.macroId);
  if (macro === undefined) throw new Fault('NOT_FOUND', 'There is no such macro for this record.');
  const change = changeOf(ctx, object, macro, input);
  const comment = input.comment ?? (await filledComments(ctx, object, [macro]))[0];
  if (comment !== undefined) requireAction(object, 'comment.create');
  const { id } = object.row;
  const commentId = comment === undefined ? null : (await addCommentWithFiles(ctx, { objectId: id, ...comment })).id;
  await change?.();
  return { object: liveRevision(ctx, object), commentId };
}

/** The change that the macro makes; undefined if it only comments. @throws Fault RIGHT_MISSING, INVALID_VALUES */
function changeOf(
  ctx: WriteContext,
  object: VisibleObject,
  macro: Macro,
  { objectId, expectedRevision, values = {} }: MacroUse,
): (() => Promise<unknown>) | undefined {
  const set = Object.fromEntries(setCodes(object, macro).map((code) => [code, valueToSet(ctx, object, macro, code)]));
  const entries = Object.entries(set);
  if (macro.transition === undefined) {
    const [unexpected] = Object.keys(values);
    if (unexpected !== undefined)
      throw invalidValues([problemAt(pointer('values', unexpected), 'NO_FIELD_OF_TRANSITION')]);
    if (entries.length === 0) return undefined;
    requireAction(object, 'update');
    return () => updateObject(ctx, { objectId, expectedRevision, changes: set });
  }
  requireAction(object, 'transition');
  const transition = findTransition(ctx, object, macro.transition);
  const form = formOf(transition);
  const beside = entries.filter(([code]) => !form.has(code));
  if (beside.length > 0) requireAction(object, 'update');
  return async () => {
    await transitionObject(ctx, {
      objectId,
      expectedRevision,
      transitionId: transition?.id ?? '',
      expectedStateId: object.row.workflowStateId ?? '',
      values: { ...Object.fromEntries(entries.filter(([code]) => form.has(code))), ...values },
      changes: Object.fromEntries(beside),
    });
  };
}
