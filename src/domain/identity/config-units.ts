/** The bundle's section `orgUnits`: the tree of organisation units. The unit of a user is a property of the user. */
import Type, { type Static } from 'typebox';
import { closed, Code, type Localized, Login, Name, nullable, optional } from '../../contract/schemas.ts';
import { cyclesOf } from '../../configuration/checks.ts';
import { defineSection } from '../../configuration/define.ts';
import { CodeOf } from '../../configuration/schemas.ts';
import type { Change, ConfigView, MergeOptions, SectionReport } from '../../configuration/section.ts';
import { problem } from '../../lib/problem.ts';
import type { ReadContext, WriteContext } from '../../platform/unit-of-work/context.ts';
import { type UnitState, writeUnit } from './changes.ts';
import { accessLock } from './store.ts';
import { loadUnits } from './store-members.ts';
import { nameKey, checkLines, checkName } from './rules.ts';

const UnitItem = closed({
  code: Code,
  name: optional(
    'The name that people see: a text, or one text for each locale. Default: the stored one, else the code.',
    Name,
  ),
  parent: optional(
    'Code of the unit above. Null removes it; absent: it stays as stored.',
    nullable(CodeOf('orgUnits')),
  ),
  manager: optional(
    'Login of the user who leads the unit. Null removes it; absent: it stays as stored.',
    nullable(Login),
  ),
  location: optional(
    'Address or place, as a text without a format. Null removes it; absent: it stays as stored.',
    nullable(Type.String({ minLength: 1, maxLength: 255 })),
  ),
});

type Item = Static<typeof UnitItem>;

interface Unit {
  code: string;
  name: Localized;
  /** Code of the parent unit. */
  parent?: string;
  /** Login. */
  manager?: string;
  location?: string;
}

const LINKS = [['parent', 'orgUnits'] as const, ['manager', 'users'] as const];

function merge(item: Item, stored: Unit | undefined, { canonicalCode }: Pick<MergeOptions, 'canonicalCode'>): Unit {
  const unit: Unit = { code: item.code, name: (item.name as Localized | undefined) ?? stored?.name ?? item.code };
  for (const [key, section] of LINKS) {
    const value = Object.hasOwn(item, key) ? item[key] : stored?.[key];
    if (value !== undefined && value !== null) unit[key] = canonicalCode(section, value);
  }
  const location = Object.hasOwn(item, 'location') ? item.location : stored?.location;
  return location === undefined || location === null ? unit : { ...unit, location };
}

function validateAll(view: ConfigView, report: SectionReport): void {
  // Archived units count: they can be restored.
  const units = new Map([...view.archived<Unit>('orgUnits'), ...view.active<Unit>('orgUnits')]);
  const rings = cyclesOf(new Map([...units].map(([code, { parent }]) => [code, parent === undefined ? [] : [parent]])));
  for (const [code, ring] of rings) {
    report(code, ['parent'], problem('UNIT_CYCLE', { cycle: ring.join(' → ') }));
  }
}

function write(ctx: WriteContext, change: Change, view: { id(section: string, code: string): string }): void {
  const { id, stored, state } = change;
  const of = (unit: Unit): Omit<UnitState, 'state' | 'revision'> => ({
    id,
    code: unit.code,
    name: unit.name,
    parentId: unit.parent === undefined ? null : view.id('orgUnits', unit.parent),
    managerUserId: unit.manager === undefined ? null : view.id('users', unit.manager),
    location: unit.location ?? null,
  });
  const before =
    stored === undefined
      ? undefined
      : { ...of(stored.definition as Unit), state: stored.state, revision: stored.version };
  writeUnit(ctx, before, { ...of(change.definition as Unit), state, revision: (stored?.version ?? 0) + 1 });
}

export const orgUnitsSection = defineSection<Item, Unit>({
  key: 'orgUnits',
  summary: 'Organisation units and their managers.',
  schema: UnitItem,
  keyOf: nameKey,
  identity: true,
  right: 'user.administer',
  normalise: (item) => merge(item, undefined, { canonicalCode: (_section, code) => code }),
  merge,
  lock: (ctx) => ctx.lock(accessLock()),
  compile: (unit, _view, report) => {
    checkName(unit.name, report);
    checkLines({ location: unit.location }, report);
    return unit;
  },
  validateAll,
  load: async (ctx: ReadContext) => {
    const rows = await loadUnits(ctx);
    return rows.map(({ id, state, revision, code, name, parent, manager, location, ...changed }) => {
      const definition: Unit = {
        code,
        name,
        ...(parent === null ? {} : { parent }),
        ...(manager === null ? {} : { manager }),
        ...(location === null ? {} : { location }),
      };
      return { id, code, state, version: revision, definition, compiled: definition, ...changed };
    });
  },
  write,
  toBundleItem: (unit, { active }) => {
    const presented = { ...unit };
    for (const [key, section] of LINKS) {
      const code = presented[key];
      if (code !== undefined && !active(section, code)) delete presented[key];
    }
    return presented;
  },
});
