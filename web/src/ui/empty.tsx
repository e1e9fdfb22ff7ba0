import { Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';

/** Placeholder of an empty list, with an optional action. */
export function Empty({ children, action }: { children: ReactNode; action?: ReactNode }) {
  return (
    <Stack align="center" gap="sm" py="xl">
      <Text c="dimmed" size="sm">
        {children}
      </Text>
      {action}
    </Stack>
  );
}
