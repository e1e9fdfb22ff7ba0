/** The words of report queries that the service and the console share. */
import type { DataType } from './data-types/index.ts';

/** Measures that are times. They need a statistic. */
export const TIMES = ['age', 'timeToFirstReply', 'timeToDone'] as const;
export const STATISTICS = ['p50', 'p90', 'avg', 'sum'] as const;
const TIME_MEASURES = TIMES.flatMap((time) => STATISTICS.map((statistic) => `${time}.${statistic}` as const));
export const MEASURES = ['count', 'reopened', 'slaMet', ...TIME_MEASURES] as const;
export type Measure = (typeof MEASURES)[number];

export const MOMENTS = ['createdAt', 'doneAt'] as const;
export type Moment = (typeof MOMENTS)[number];

export const STEPS = ['day', 'week', 'month'] as const;
export type Step = (typeof STEPS)[number];

export interface MomentGroup {
  kind: 'moment';
  of: Moment;
  by: Step;
}

/** `createdAt.day` and the like; undefined for anything else. */
export function momentGroup(text: string): MomentGroup | undefined {
  const [of, by, rest] = text.split('.');
  const moment = MOMENTS.find((known) => known === of);
  const step = STEPS.find((known) => known === by);
  return moment === undefined || step === undefined || rest !== undefined
    ? undefined
    : { kind: 'moment', of: moment, by: step };
}

/** Data types whose values make sensible groups. */
export const GROUPED: ReadonlySet<DataType> = new Set([
  'boolean',
  'enum',
  'string',
  'integer',
  'date',
  'user',
  'group',
  'org-unit',
  'service',
  'reference',
]);

export const SYSTEM_GROUPS = [
  'typeId',
  'typeCode',
  'workflowState',
  'workflowCategory',
  'createdBy',
  'updatedBy',
] as const;

export const TILE_KINDS = ['number', 'table', 'bars', 'line', 'area'] as const;
export type TileKind = (typeof TILE_KINDS)[number];
export const MAX_TILES = 24;
/** Tiles of this width take a whole row. */
export const WIDEST = 4;
