import classes from './brand.module.css';

/** Name and logo of the service. */
export function Brand({ large = false }: { large?: boolean }) {
  const size = large ? 36 : 24;
  return (
    <span className={classes.brand} data-large={large || undefined}>
      <svg width={size} height={size} viewBox="0 0 32 32" aria-hidden="true">
        <rect width="32" height="32" rx="8" fill="#0b6b74" />
        <path d="M9 8h9.5a7.5 7.5 0 0 1 0 16H9z" fill="none" stroke="#fff" strokeWidth="2.6" strokeLinejoin="round" />
        <path d="M13.5 13h5M13.5 16.2h6.5M13.5 19.4h3.6" stroke="#9fe0e4" strokeWidth="2" strokeLinecap="round" />
      </svg>
      Docket
    </span>
  );
}
