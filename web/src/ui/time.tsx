import { useFormats } from '../i18n/format.ts';

/** A relative time; the exact one is shown when the pointer rests on it. */
export function Time({ at, absolute = false }: { at: string; absolute?: boolean }) {
  const format = useFormats();
  return (
    <time dateTime={at} title={format.exact(at)} className="tabular">
      {absolute ? format.instant(at) : format.relative(at)}
    </time>
  );
}
