/** The audiences that include a caller, and the caller's preferred locales. */
import type { Actor, ReadContext } from '../../platform/unit-of-work/context.ts';
import { registry } from '../metadata/index.ts';
import { bases } from './registry.ts';
import { EVERYONE, type Preference, type Reach } from './store.ts';

/** The audience ids that include the user: everyone, the user, their groups, their unit and all units above it. */
function admittedIds({ userId, variables, unitsAbove }: Actor): string[] {
  return [EVERYONE, ...(userId === null ? [] : [userId]), ...variables.groups, ...unitsAbove];
}

export function reachOf(ctx: ReadContext): Reach {
  return { bases: bases(ctx), admitted: admittedIds(ctx.actor) };
}

/** The given locale (ru-RU by default), then the default locale of the service, then the order of the base. */
export function preferenceOf(ctx: ReadContext, asked: string | undefined): Preference {
  return { asked: asked ?? 'ru-RU', fallback: registry(ctx).settings.defaultLocale };
}
