import { Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';

/** A place where nothing is yet, with what one can do about it. */
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
