/** The bundle's section `dashboards` (docs/spec/configuration.md#bundle). */
import Type, { type Static } from 'typebox';
import { type Audience, normaliseAudience } from '../../configuration/audience.ts';
import { closed, Code, described, type Localized, Name, oneOf, optional } from '../../contract/schemas.ts';
import { stepsOf } from '../../configuration/conditions.ts';
import { defineSection } from '../../configuration/define.ts';
import { compileSharedCondition, type TypeShape } from '../../configuration/record-types.ts';
import { CodeOf, ConditionSchema } from '../../configuration/schemas.ts';
import type { CompileView, ItemPath, Report } from '../../configuration/section.ts';
import { isFault } from '../../lib/fault.ts';
import { type Condition, type FilterField, resolverOf } from '../../lib/filter.ts';
import type { TypeDefinition } from '../metadata/index.ts';
import { ReportQuery } from './contract.ts';
import { MAX_TILES, TILE_KINDS } from '../../lib/report-query.ts';
import { type Tile, Width } from './contract-dashboards.ts';
import { checkedZone, checkQuery, checkTile, type ReportableType, spanOf } from './rules.ts';

const codesOf = (description: string, section: string) =>
  optional(description, Type.Array(CodeOf(section), { maxItems: 100, uniqueItems: true }));

const DashboardItem = closed({
  code: Code,
  name: Type.Optional(Name),
  tiles: described(
    'The figures and charts, from left to right and top to bottom.',
    Type.Array(
      closed({
        kind: described(
          'How the answer is shown. number takes no groupBy, the charts need one: line and area by a moment.',
          oneOf(TILE_KINDS),
        ),
        title: described('Heading of the tile: a text, or one text for each locale.', Name),
        query: described(
          'What is counted or measured. Each viewer gets figures of the records that they may read.',
          closed(
            {
              ...ReportQuery.properties,
              types: described(
                'Codes of the record types whose records count.',
                Type.Array(CodeOf('types'), { minItems: 1, maxItems: 20, uniqueItems: true }),
              ),
              filter: optional('Only records that meet this condition count. Absent: all.', ConditionSchema),
              calendar: optional(
                'Code of a calendar. Durations then count only its opening hours: they are working time.',
                CodeOf('calendars'),
              ),
              groupBy: Type.Optional({ ...ReportQuery.properties.groupBy, names: { kind: 'groups' } }),
            },
            { typesAt: 'types' },
          ),
        ),
        width: optional('Width in quarters of a row, 1 to 4. Default: 1 for a number, else 2.', Width),
      }),
      { minItems: 1, maxItems: MAX_TILES },
    ),
  ),
  sharedWith: optional(
    'Who sees the dashboard, besides holders of config.manage. Gives no right to read records. Default: nobody else.',
    closed({
      roles: codesOf('Codes of the roles whose holders see the dashboard.', 'roles'),
      groups: codesOf('Codes of the groups whose members see the dashboard.', 'groups'),
    }),
  ),
});

type Item = Static<typeof DashboardItem>;

type DashboardTile = Omit<Tile, 'title'> & { title: Localized };

/** Contains codes and logins in definitions, ids in conditions and `sharedWith` of the compiled form. */
interface DashboardDefinition {
  code: string;
  name: Localized;
  tiles: DashboardTile[];
  sharedWith: { roles: string[]; groups: string[] };
}

function normalise(item: Item): DashboardDefinition {
  return {
    code: item.code,
    name: (item.name as Localized | undefined) ?? item.code,
    tiles: item.tiles.map(({ kind, title, query, width }) => ({
      kind,
      title: title as Localized,
      query: query as Tile['query'],
      width: width ?? (kind === 'number' ? 1 : 2),
    })),
    sharedWith: { roles: item.sharedWith?.roles ?? [], groups: item.sharedWith?.groups ?? [] },
  };
}

/** All fields of a type can be named in configuration. Filters take filterable fields, as in requests. */
function reportable(type: TypeDefinition): ReportableType {
  const fields = new Map(type.fields.map((field) => [field.code, field]));
  const resolve = resolverOf(
    type.fields.map(({ code, dataType, multiple, constraints }): FilterField => {
      const options = constraints.options === undefined ? undefined : new Set(constraints.options.map((o) => o.code));
      return { code, kind: 'value', dataType, multiple, ...(options === undefined ? {} : { options }) };
    }),
  );
  const filterable = type.fields.flatMap(({ code, search }) => (search.filter ? [[code, resolve(code)] as const] : []));
  return {
    typeId: type.code,
    fields: new Map(filterable as [string, FilterField][]),
    owns: (code) => fields.has(code),
    dataType: (code) => fields.get(code)?.dataType,
  };
}

/** Runs a check of requests, and reports what it refuses at the path of the tile. */
function reported(path: ItemPath, report: Report, check: () => void): void {
  try {
    check();
  } catch (error) {
    if (!isFault(error) || !Array.isArray(error.details)) throw error;
    for (const { path: place, ...found } of error.details) report([...path, ...stepsOf(place)], found);
  }
}

function compileTile(tile: DashboardTile, index: number, view: CompileView, report: Report): DashboardTile {
  const path = ['tiles', index];
  const inQuery = [...path, 'query'];
  const { query } = tile;
  reported(path, report, () => checkTile(tile));
  reported(inQuery, report, () => spanOf(query.period, checkedZone(query.timeZone ?? 'UTC'), '2000-01-01T00:00:00Z'));
  const types = query.types.flatMap((code) => view.get<TypeDefinition>('types', code) ?? []);
  // References are checked elsewhere, which reports unknown types.
  if (types.length < query.types.length) return tile;
  const named = types.map(reportable);
  reported(inQuery, report, () => void checkQuery({ groupBy: query.groupBy ?? [] }, named));
  if (query.filter === undefined) return tile;
  const shapes: readonly TypeShape[] = types;
  const filter = compileSharedCondition(query.filter as Condition, [...inQuery, 'filter'], shapes, { view, report });
  if (filter === undefined) return tile;
  reported(inQuery, report, () => void checkQuery({ filter }, named));
  return { ...tile, query: { ...query, filter } };
}

/** With the groups as an audience too: membership in them makes the dashboard visible, which the rules of membership check. */
interface CompiledDashboard extends DashboardDefinition {
  audience: Audience;
}

function compile(dashboard: DashboardDefinition, view: CompileView, report: Report): CompiledDashboard {
  const ids = (section: 'roles' | 'groups'): string[] =>
    dashboard.sharedWith[section].flatMap((code) => (view.has(section, code) ? [view.id(section, code)] : []));
  const groups = ids('groups');
  return {
    ...dashboard,
    tiles: dashboard.tiles.map((tile, index) => compileTile(tile, index, view, report)),
    sharedWith: { roles: ids('roles'), groups },
    audience: normaliseAudience({ groups }),
  };
}

export const dashboardsSection = defineSection<Item, DashboardDefinition>({
  key: 'dashboards',
  summary: 'Dashboards and their tiles.',
  schema: DashboardItem,
  normalise,
  compile,
});
