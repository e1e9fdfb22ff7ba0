/**
 * Registry of screens. Every file `admin/<area>/screen.ts` and `work/<area>/screen.ts` is registered automatically, so that
 * adding a screen changes no shared list (docs/console.md).
 */
import type { Icon } from '@tabler/icons-react';
import type { ComponentType } from 'react';
import type { Bilingual } from './i18n/text.ts';

/** Props of a screen's page. */
export interface ScreenProps {
  /** The path segments after the screen's own: `/admin/keys/new` gives `['new']` to the screen `keys`. */
  path: readonly string[];
}

/** Sections of the administration's navigation, in order. */
export const SECTIONS = ['model', 'people', 'service', 'connections', 'knowledge', 'operation'] as const;
export type Section = (typeof SECTIONS)[number];

export interface Screen {
  /** First path segment below `/admin/` or `/work/`. */
  path: string;
  /** Navigation section; screens of `work/` have none. */
  section?: Section;
  /** Sort order within the section; ties are sorted by path. */
  order: number;
  title: Bilingual;
  /** One line for the overview page. */
  summary?: Bilingual;
  icon: Icon;
  /** Shown to users with one of these rights; undefined: to all users. The service checks rights itself. */
  rights?: readonly string[];
  /** Loads the page on the first visit; the module's default export. */
  load: () => Promise<{ default: ComponentType<ScreenProps> }>;
}

type Found = Record<string, { screen: Screen }>;

function sorted(found: Found): readonly Screen[] {
  return Object.values(found)
    .map((one) => one.screen)
    .sort((a, b) => a.order - b.order || a.path.localeCompare(b.path));
}

export const adminScreens = sorted(import.meta.glob<{ screen: Screen }>('./admin/*/screen.ts', { eager: true }));
export const workScreens = sorted(import.meta.glob<{ screen: Screen }>('./work/*/screen.ts', { eager: true }));

/** The screens available to a user with these rights. */
export function offered(screens: readonly Screen[], has: (right: string) => boolean): readonly Screen[] {
  return screens.filter(({ rights }) => rights === undefined || rights.some(has));
}
