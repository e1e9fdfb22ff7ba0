/**
 * Conditions on hidden fields (docs/spec/configuration.md#conditions-on-hidden-fields): a user who changes what depends on the
 * values of a field must be able to read the field on every record of the type, or hold `role.assign`. Called for every plan of a
 * bundle.
 */
import { isActive } from '../contract/state.ts';
import { Fault } from '../lib/fault.ts';
import { problem } from '../lib/problem.ts';
import type { Yielder } from '../lib/yielding.ts';
import type { ReadContext } from '../platform/unit-of-work/context.ts';
import { Codes } from './codes.ts';
import { alwaysReads, type FieldUse, fieldUses, newUses, type ReadingGrants } from './field-places.ts';
import type { Change, ConfigSection } from './section.ts';
import type { Entry, View } from './view.ts';

/** The configuration before or after the change. */
async function codesOf(view: View, yielder: Yielder, of: (entry: Entry) => unknown): Promise<Codes> {
  const codes = new Codes();
  for (const entry of view.all()) {
    await yielder.next();
    const definition = of(entry);
    const versions = view.versions(entry.section.key, entry.code).map(({ compiled }) => compiled);
    if (definition !== undefined) codes.add(entry.section.key, entry.code, [...versions, definition]);
  }
  return codes;
}

/** What the actor's present roles grant, under the codes of the planned configuration. */
function grantsOf({ actor }: Pick<ReadContext, 'actor'>, view: View): ReadingGrants[] {
  return [...view.entries('roles')].flatMap(({ id, stored }) =>
    stored !== undefined && isActive(stored) && actor.roles.includes(id) ? [stored.definition as ReadingGrants] : [],
  );
}

/** Whether the actor may read the items of the section. */
export function mayRead({ actor }: Pick<ReadContext, 'actor'>, { right }: ConfigSection): boolean {
  return right === undefined || actor.has(right);
}

/** Whether the actor may read the field on every record of the type. */
export type ReadsField = (type: string, field: string) => boolean;

export function readsField(ctx: Pick<ReadContext, 'actor'>, view: View): ReadsField {
  if (ctx.actor.has('role.assign')) return () => true;
  const grants = grantsOf(ctx, view);
  return (type, field) => alwaysReads(grants, type, field);
}

/** @throws Fault RIGHT_MISSING with `{right, path}` of the first place that the actor must not write */
export async function requireReadable(
  ctx: Pick<ReadContext, 'actor'>,
  { view, changes }: { view: View; changes: readonly { change: Change; section: ConfigSection }[] },
  yielder: Yielder,
): Promise<void> {
  if (ctx.actor.has('role.assign')) return;
  const reads = readsField(ctx, view);
  const before = await codesOf(view, yielder, ({ stored }) => stored?.definition);
  const after = await codesOf(view, yielder, ({ definition }) => definition);
  for (const { change, section } of changes) {
    if (change.action === 'archive') continue;
    await yielder.next();
    const { code } = change;
    const stood = standing(change, view.entry(section.key, code)).flatMap((definition) =>
      fieldUses(section, code, definition, before),
    );
    const uses = newUses(stood, fieldUses(section, code, change.definition, after));
    // A field that the same change adds has no values that its own default could tell.
    const isOwn = (use: FieldUse): boolean =>
      section.key === 'types' && before.at(`types/${use.type}/fields/${use.field}`) === undefined;
    requireEach(
      uses.filter((use) => !isOwn(use)),
      reads,
    );
    if (section.key === 'types') requireEach(adopted(code, view, before, after), reads);
  }
}

/** What stood before. A place with one code for several types, of which only some were renamed, may also stay as it was. */
function standing({ stored }: Change, entry: Entry | undefined): unknown[] {
  if (stored === undefined || !isActive(stored)) return [];
  const isSplit = (entry?.effects.split.length ?? 0) > 0;
  return [stored.definition, ...(isSplit && entry?.original !== undefined ? [entry.original.definition] : [])];
}

/** The uses of fields in the workflow that a type takes, whose conditions mean the fields of this type only now. */
function adopted(type: string, view: View, before: Codes, after: Codes): FieldUse[] {
  const known = new Set(before.workflowsOf(type));
  return after
    .workflowsOf(type)
    .filter((workflow) => !known.has(workflow))
    .flatMap((workflow) => {
      const entry = view.entry('workflows', workflow);
      if (entry?.definition === undefined) return [];
      return fieldUses(entry.section, workflow, entry.definition, after)
        .filter((use) => use.type === type)
        .map((use) => ({ ...use, path: `types.${type}.workflow` }));
    });
}

function requireEach(uses: readonly FieldUse[], reads: ReadsField): void {
  const refused = uses.find(({ type, field }) => !reads(type, field));
  if (refused === undefined) return;
  const { path, type, field } = refused;
  throw new Fault('RIGHT_MISSING', problem('FIELD_NOT_READABLE', { path, type, field }), {
    right: 'role.assign',
    path,
  });
}
