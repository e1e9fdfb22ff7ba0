/** The frame of a screen: a header with title and actions, and content that scrolls on its own. */
import { Anchor, Group, Text, Title } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import classes from './page.module.css';

/** Props of a screen's page. */
export interface ScreenProps {
  /** The path segments after the screen's own: `/admin/keys/new` gives `['new']` to the screen `keys`. */
  path: readonly string[];
}

export interface PageProps {
  title: string;
  /** One line below the title. */
  hint?: ReactNode;
  /** Buttons to the right of the title. */
  actions?: ReactNode;
  /** A link to the parent screen, above the title. */
  back?: { label: string; href: string; search?: { q: string } };
  /** Limits the width of the content, for reading text. */
  narrow?: boolean;
  children: ReactNode;
}

export function Page({ title, hint, actions, back, narrow = false, children }: PageProps) {
  useDocumentTitle(`${title} · Docket`);
  return (
    <div className={classes.page}>
      <header className={classes.head} data-narrow={narrow || undefined}>
        <div className={classes.titles}>
          {back !== undefined && (
            <Anchor size="xs" renderRoot={(props) => <Link to={back.href} search={back.search ?? {}} {...props} />}>
              ← {back.label}
            </Anchor>
          )}
          <Title order={1}>{title}</Title>
          {hint !== undefined && (
            <Text size="sm" c="dimmed" component="div">
              {hint}
            </Text>
          )}
        </div>
        {actions !== undefined && <Group gap="xs">{actions}</Group>}
      </header>
      <div className={classes.body} data-narrow={narrow || undefined}>
        {children}
      </div>
    </div>
  );
}

/** A section of a screen with its own heading. */
export function Panel({ title, actions, children }: { title?: ReactNode; actions?: ReactNode; children: ReactNode }) {
  return (
    <section className={classes.panel}>
      {title !== undefined && (
        <header className={classes.panelHead}>
          <Title order={2} size="h3">
            {title}
          </Title>
          {actions !== undefined && <Group gap={4}>{actions}</Group>}
        </header>
      )}
      {children}
    </section>
  );
}
