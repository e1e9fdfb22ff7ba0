/** The routes of the console. Screens are loaded on the first visit. */
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router';
import type { Language } from '../i18n/language.ts';
import { FailedPage, NotFoundPage } from './error-pages.tsx';
import { currentInterface } from '../portal/access.ts';
import { queryClient } from './query-client.ts';
import { sessionQuery } from './session.ts';
import { Shell } from './shell.tsx';

const rootRoute = createRootRouteWithContext<{ language: Language }>()({ component: Outlet });

/** Accepts only paths of this site, to prevent open redirects after sign-in. */
function ownPath(value: unknown): string | undefined {
  return typeof value === 'string' && /^\/(?![/\\])/.test(value) ? value : undefined;
}

const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  validateSearch: (search: Record<string, unknown>): { to?: string; refused?: true } => {
    const to = ownPath(search['to']);
    return { ...(to === undefined ? {} : { to }), ...(search['refused'] === undefined ? {} : { refused: true }) };
  },
  component: lazyRouteComponent(() => import('./sign-in.tsx'), 'SignInPage'),
});

/** Routes that require sign-in. */
const insideRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'inside',
  beforeLoad: async ({ location }) => {
    const session = await queryClient.ensureQueryData(sessionQuery);
    if (session === null)
      throw redirect({ to: '/sign-in', search: location.href === '/' ? {} : { to: location.href } });
  },
  component: Shell,
});

/** Sends users of the portal from pages of the desk to the portal's own. */
async function leaveToPortal(path = ''): Promise<void> {
  if ((await currentInterface()) === 'portal') {
    throw redirect({ to: '/portal/$', params: { _splat: path }, replace: true });
  }
}

const homeRoute = createRoute({
  getParentRoute: () => insideRoute,
  path: '/',
  beforeLoad: async () => {
    await leaveToPortal();
    throw redirect({ to: '/records', replace: true });
  },
});

export const portalRoute = createRoute({
  getParentRoute: () => insideRoute,
  path: '/portal/$',
  validateSearch: (search: Record<string, unknown>): { title?: string; q?: string } => {
    const [title, q] = [text(search['title']), text(search['q'])];
    return { ...(title === undefined ? {} : { title }), ...(q === undefined ? {} : { q }) };
  },
  component: lazyRouteComponent(() => import('../portal/portal.tsx'), 'Portal'),
});

/** Search parameters of a list. The complete state is in the URL, so that lists can be bookmarked and shared. */
export interface ListSearch {
  type?: string;
  state?: string;
  q?: string;
  /** A condition as JSON. */
  filter?: string;
  sort?: string;
  sla?: string;
  /** When records were done, `FROM..UNTIL`; `-`: not done. */
  done?: string;
  /** Code of an SLA policy with an instance on the record; `-`: none. */
  slaPolicy?: string;
  /** The built-in queue that the list shows. */
  queue?: string;
}

function text(value: unknown): string | undefined {
  if (typeof value === 'string') return value === '' ? undefined : value;
  // The router parses values that look like JSON; they are turned back into text here.
  return value === null || value === undefined ? undefined : JSON.stringify(value);
}

function listSearch(search: Record<string, unknown>): ListSearch {
  const found: ListSearch = {};
  for (const name of ['type', 'state', 'q', 'filter', 'sort', 'sla', 'done', 'slaPolicy', 'queue'] as const) {
    const value = text(search[name]);
    if (value !== undefined) found[name] = value;
  }
  return found;
}

export const recordsRoute = createRoute({
  getParentRoute: () => insideRoute,
  path: '/records',
  validateSearch: listSearch,
  beforeLoad: () => leaveToPortal(),
  component: lazyRouteComponent(() => import('../desk/list/records-page.tsx'), 'RecordsPage'),
});

export const queueRoute = createRoute({
  getParentRoute: () => insideRoute,
  path: '/queues/$queueId',
  beforeLoad: () => leaveToPortal(),
  component: lazyRouteComponent(() => import('../desk/list/records-page.tsx'), 'QueuePage'),
});

export const newRecordRoute = createRoute({
  getParentRoute: () => insideRoute,
  path: '/new/$typeCode',
  beforeLoad: () => leaveToPortal(),
  component: lazyRouteComponent(() => import('../desk/record/new-page.tsx'), 'NewRecordPage'),
});

export const recordRoute = createRoute({
  getParentRoute: () => insideRoute,
  path: '/records/$recordId',
  beforeLoad: ({ params }) => leaveToPortal(`requests/${params.recordId}`),
  validateSearch: (search: Record<string, unknown>): { tab?: string } => {
    const tab = text(search['tab']);
    return tab === undefined ? {} : { tab };
  },
  component: lazyRouteComponent(() => import('../desk/record/record-page.tsx'), 'RecordPage'),
});

export const searchRoute = createRoute({
  getParentRoute: () => insideRoute,
  path: '/search',
  validateSearch: (search: Record<string, unknown>): { q?: string; filter?: string; type?: string } => {
    const [q, filter, type] = [text(search['q']), text(search['filter']), text(search['type'])];
    return { ...(q && { q }), ...(filter && { filter }), ...(type && { type }) };
  },
  component: lazyRouteComponent(() => import('../desk/search/search-page.tsx'), 'SearchPage'),
});

const accountRoute = createRoute({
  getParentRoute: () => insideRoute,
  path: '/account',
  component: lazyRouteComponent(() => import('../account/page.tsx'), 'AccountPage'),
});

const notificationsRoute = createRoute({
  getParentRoute: () => insideRoute,
  path: '/notifications',
  component: lazyRouteComponent(() => import('../notifications/page.tsx'), 'NotificationsPage'),
});

const notificationSettingsRoute = createRoute({
  getParentRoute: () => insideRoute,
  path: '/notifications/settings',
  component: lazyRouteComponent(() => import('../notifications/settings.tsx'), 'NotificationSettingsPage'),
});

const explainRoute = createRoute({
  getParentRoute: () => insideRoute,
  path: '/records/$recordId/notifications',
  validateSearch: (search: Record<string, unknown>): { user?: string } => {
    const user = text(search['user']);
    return user === undefined ? {} : { user };
  },
  component: lazyRouteComponent(() => import('../notifications/explain.tsx'), 'ExplainNotificationsPage'),
});

const adminRoute = createRoute({
  getParentRoute: () => insideRoute,
  path: '/admin',
  component: lazyRouteComponent(() => import('../admin/overview.tsx'), 'AdminOverview'),
});

const adminScreenRoute = createRoute({
  getParentRoute: () => insideRoute,
  path: '/admin/$',
  component: lazyRouteComponent(() => import('../admin/frame.tsx'), 'AdminScreen'),
});

const workScreenRoute = createRoute({
  getParentRoute: () => insideRoute,
  path: '/work/$',
  component: lazyRouteComponent(() => import('../work/frame.tsx'), 'WorkScreen'),
});

const routeTree = rootRoute.addChildren([
  signInRoute,
  insideRoute.addChildren([
    homeRoute,
    portalRoute,
    recordsRoute,
    queueRoute,
    newRecordRoute,
    recordRoute,
    searchRoute,
    accountRoute,
    notificationsRoute,
    notificationSettingsRoute,
    explainRoute,
    adminRoute,
    adminScreenRoute,
    workScreenRoute,
  ]),
]);

export const router = createRouter({
  routeTree,
  context: { language: 'ru-RU' },
  defaultPreload: 'intent',
  defaultPreloadStaleTime: 0,
  scrollRestoration: true,
  // Rendered outside the shell.
  defaultNotFoundComponent: () => (
    <main>
      <NotFoundPage />
    </main>
  ),
  defaultErrorComponent: FailedPage,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
