import classes from './type-mark.module.css';

const HUES = 6;

/** An icon with the first letter of a record type. */
export function TypeMark({ code, name }: { code: string; name: string }) {
  let sum = 0;
  for (const char of code) sum = (sum * 33 + (char.codePointAt(0) ?? 0)) % 9973;
  return (
    <span className={classes.mark} data-hue={sum % HUES} aria-hidden="true">
      {[...name][0]?.toUpperCase()}
    </span>
  );
}
