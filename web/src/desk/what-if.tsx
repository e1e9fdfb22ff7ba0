/** What a write would do, before it is made: a button that asks the service, and the answer. */
import { Button, Loader, Stack, Text } from '@mantine/core';
import { IconEye } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { lazy, type ReactNode, Suspense } from 'react';
import { useText } from '../i18n/text.ts';
import { FaultAlert } from '../ui/fault.tsx';
import type { Tried } from './what-if-answer.tsx';
import { whatIfTexts } from './what-if-texts.ts';
import classes from './what-if.module.css';

const WhatIfAnswer = lazy(() => import('./what-if-answer.tsx'));

interface WhatIfProps {
  /** Asks for the present input; undefined if it is not complete. */
  ask: (() => Promise<Tried>) | undefined;
  /** Type of the records, for names of fields and values. */
  typeId: string | undefined;
  /** Names of the records of a bulk change by id. */
  names?: ReadonlyMap<string, string>;
}

/** Remount it with a `key` when the input changes: the answer is then out of date. */
export function WhatIf({ ask, typeId, names }: WhatIfProps) {
  const t = useText(whatIfTexts);
  const tried = useMutation({ mutationFn: async (run: () => Promise<Tried>) => await run() });
  return (
    <div className={classes.whatIf}>
      <Button
        variant="subtle"
        size="compact-sm"
        leftSection={<IconEye size={14} />}
        disabled={ask === undefined}
        loading={tried.isPending}
        onClick={() => ask !== undefined && tried.mutate(ask)}
      >
        {t.ask}
      </Button>
      <div aria-live="polite">
        {tried.error !== null && <FaultAlert error={tried.error} />}
        {tried.data !== undefined && (
          <section className={classes.answer} aria-label={t.ask}>
            <Suspense fallback={<Loader size="xs" />}>
              <WhatIfAnswer tried={tried.data} typeId={typeId} {...(names === undefined ? {} : { names })} />
            </Suspense>
            <Text size="xs" c="dimmed">
              {t.nothingDone}
            </Text>
          </section>
        )}
      </div>
    </div>
  );
}

/** The body of a confirmation: what the action means, and the preview. */
export function QuestionWithPreview({ children, ...props }: WhatIfProps & { children: ReactNode }) {
  return (
    <Stack gap="sm">
      {children}
      <WhatIf {...props} />
    </Stack>
  );
}
