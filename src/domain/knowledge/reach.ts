/** Whom versions are for, and what a caller may see of them. */
import type { Actor, ReadContext } from '../../mechanisms/context.ts';
import { registry } from '../metadata/door.ts';
import { bases } from './registry.ts';
import { EVERYONE, type Preference, type Reach } from './store.ts';

/** Under which ids a version admits the person: everyone, themselves, their groups, their unit and all above it. */
function admittedIds({ userId, variables, unitsAbove }: Actor): string[] {
  return [EVERYONE, ...(userId === null ? [] : [userId]), ...variables.groups, ...unitsAbove];
}

export function reachOf(ctx: ReadContext): Reach {
  return { bases: bases(ctx), admitted: admittedIds(ctx.actor) };
}

/** The locale asked (ru-RU unless given), else the default one, else as the base prefers. */
export function preferenceOf(ctx: ReadContext, asked: string | undefined): Preference {
  return { asked: asked ?? 'ru-RU', fallback: registry(ctx).settings.defaultLocale };
}
