import classes from './person.module.css';

const HUES = 12;

/** The first letters of the first two words. */
function initials(name: string): string {
  const words = name.trim().split(/\s+/);
  return words
    .slice(0, 2)
    .map((word) => [...word][0] ?? '')
    .join('')
    .toUpperCase();
}

function hueOf(name: string): number {
  let sum = 0;
  for (const char of name) sum = (sum * 31 + (char.codePointAt(0) ?? 0)) % 997;
  return sum % HUES;
}

/** A small round avatar with initials, shown beside the user's name. */
export function PersonMark({ name, size = 22 }: { name: string; size?: number }) {
  return (
    <svg
      className={classes.mark}
      width={size}
      height={size}
      viewBox="0 0 24 24"
      data-hue={hueOf(name)}
      aria-hidden="true"
    >
      <circle cx="12" cy="12" r="12" />
      <text x="12" y="15.6" textAnchor="middle">
        {initials(name)}
      </text>
    </svg>
  );
}

/** A user's avatar and name. */
export function PersonName({ name }: { name: string }) {
  return (
    <span className={classes.person}>
      <PersonMark name={name} size={18} />
      <span className={classes.name}>{name}</span>
    </span>
  );
}
