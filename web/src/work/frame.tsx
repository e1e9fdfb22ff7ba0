/** Frame of the screens under `/work/` (catalog, knowledge base). */
import { Loader } from '@mantine/core';
import { useParams } from '@tanstack/react-router';
import { type ComponentType, lazy, Suspense } from 'react';
import { NotFoundPage } from '../app/error-pages.tsx';
import { useHas } from '../app/session.ts';
import { offered, workScreens } from '../screens.ts';
import type { ScreenProps } from '../ui/page.tsx';

const pages = new Map<string, ComponentType<ScreenProps>>(
  workScreens.map((screen) => [screen.path, lazy(screen.load)]),
);

export function WorkScreen() {
  const { _splat = '' } = useParams({ from: '/inside/work/$' });
  const [own = '', ...path] = _splat.split('/').filter((segment) => segment !== '');
  const allowed = offered(workScreens, useHas()).some((screen) => screen.path === own);
  const Page = allowed ? pages.get(own) : undefined;
  if (Page === undefined) return <NotFoundPage />;
  return (
    <Suspense fallback={<Loader m="xl" size="sm" />}>
      <Page path={path} />
    </Suspense>
  );
}
