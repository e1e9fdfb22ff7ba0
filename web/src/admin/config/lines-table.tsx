/** A table for editing a list in an item, one row per entry, with a button to add one. */
import { Button, Group, Title } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import classes from './lines-table.module.css';

export function LinesHead({ title, add, onAdd }: { title: string; add: string; onAdd: () => void }) {
  return (
    <Group justify="space-between" mt="xs">
      <Title order={2} size="h3">
        {title}
      </Title>
      <Button variant="default" leftSection={<IconPlus size={14} />} onClick={onAdd}>
        {add}
      </Button>
    </Group>
  );
}

interface LinesTableProps {
  label: string;
  /** Column headings; the last column, with buttons, has none. */
  columns: readonly string[];
  /** For a part of a form that is narrower than the page. */
  narrow?: boolean;
  children: ReactNode;
}

export function LinesTable({ label, columns, narrow = false, children }: LinesTableProps) {
  return (
    <div className={classes.scroll} tabIndex={0} role="group" aria-label={label}>
      <table className={classes.table} aria-label={label} data-narrow={narrow || undefined}>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
            <td />
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}
