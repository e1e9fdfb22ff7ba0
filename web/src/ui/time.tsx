import { Tooltip } from '@mantine/core';
import { useFormats } from '../i18n/format.ts';

/** An instant as people speak of it; the exact one on pointing at it. */
export function Time({ at, absolute = false }: { at: string; absolute?: boolean }) {
  const format = useFormats();
  return (
    <Tooltip label={format.exact(at)}>
      <time dateTime={at} className="tabular">
        {absolute ? format.instant(at) : format.relative(at)}
      </time>
    </Tooltip>
  );
}
