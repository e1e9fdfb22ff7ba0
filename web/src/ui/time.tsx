import { Tooltip } from '@mantine/core';
import { useFormats } from '../i18n/format.ts';

/** A relative time; the tooltip shows the exact one. */
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
