/**
 * The registry of screens that other parts of the console bring: every file `admin/<area>/screen.ts` and `work/<area>/screen.ts`
 * is found by itself, so that adding one touches no shared list (docs/console.md).
 */
import type { Icon } from '@tabler/icons-react';
import type { ComponentType } from 'react';
import type { Bilingual } from './i18n/text.ts';

/** What a screen's page is given. */
export interface ScreenProps {
  /** What follows the screen's own path: `/admin/keys/new` gives `['new']` to the screen `keys`. */
  path: readonly string[];
}

/** Headings of the administration's navigation, in their order. */
export const SECTIONS = ['model', 'people', 'service', 'connections', 'knowledge', 'operation'] as const;
export type Section = (typeof SECTIONS)[number];

export interface Screen {
  /** First segment of the address, below `/admin/` or `/work/`. */
  path: string;
  /** Heading it stands under; screens of `work/` have none. */
  section?: Section;
  /** Place among its neighbours; ties by path. */
  order: number;
  title: Bilingual;
  /** One line for the overview. */
  summary?: Bilingual;
  icon: Icon;
  /** Shown to whoever holds one of these rights; left out: to everybody. The service decides anew whatever is shown. */
  rights?: readonly string[];
  /** The page, loaded when it is first visited; its module's default export. */
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

/** The screens that somebody with these rights is offered. */
export function offered(screens: readonly Screen[], has: (right: string) => boolean): readonly Screen[] {
  return screens.filter(({ rights }) => rights === undefined || rights.some(has));
}
