/** Durations: ISO 8601 in the API, and `4ч`, `1д 30м`, `2h 15m` in the interface. No side effects. */

const ISO =
  /^P(?=\d|T\d)(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?=\d)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:[.,]\d+)?)S)?)?$/i;
const PART = /(\d+)\s*(д|дн|d|ч|час|h|м|мин|m|min|с|сек|s|sec|н|нед|w)\.?(?=[\s\d]|$)/giu;

const UNIT: Readonly<Record<string, 'W' | 'D' | 'H' | 'M' | 'S'>> = {
  н: 'W',
  нед: 'W',
  w: 'W',
  д: 'D',
  дн: 'D',
  d: 'D',
  ч: 'H',
  час: 'H',
  h: 'H',
  м: 'M',
  мин: 'M',
  m: 'M',
  min: 'M',
  с: 'S',
  сек: 'S',
  s: 'S',
  sec: 'S',
};

/** Parses user input to ISO 8601; undefined if it is not a duration. */
export function parseDuration(text: string): string | undefined {
  const trimmed = text.trim();
  if (ISO.test(trimmed)) return trimmed.toUpperCase();
  const found = new Map<string, number>();
  const rest = trimmed.toLowerCase().replaceAll(PART, (_match, amount: string, unit: string) => {
    const code = UNIT[unit] ?? '';
    found.set(code, (found.get(code) ?? 0) + Number(amount));
    return '';
  });
  if (found.size === 0 || rest.trim() !== '') return undefined;
  const part = (code: string): string => (found.has(code) ? `${found.get(code)}${code}` : '');
  const days = (found.get('W') ?? 0) * 7 + (found.get('D') ?? 0);
  const time = ['H', 'M', 'S'].map(part).join('');
  return `P${days > 0 ? `${days}D` : ''}${time === '' ? '' : `T${time}`}` === 'P'
    ? 'PT0S'
    : `P${days > 0 ? `${days}D` : ''}${time === '' ? '' : `T${time}`}`;
}

/** `PT4H30M` → `4ч 30м`; `units` are the letters for day, hour, minute, second. Years and months stay ISO. */
export function showDuration(iso: string, units: string): string {
  const match = ISO.exec(iso);
  if (match === null || match[1] !== undefined || match[2] !== undefined) return iso;
  const [, , , weeks, days, hours, minutes, seconds] = match;
  const [d = 'd', h = 'h', m = 'm', s = 's'] = units.split(' ');
  const parts: string[] = [];
  const allDays = Number(weeks ?? 0) * 7 + Number(days ?? 0);
  if (allDays > 0) parts.push(`${allDays}${d}`);
  if (hours !== undefined) parts.push(`${hours}${h}`);
  if (minutes !== undefined) parts.push(`${minutes}${m}`);
  if (seconds !== undefined) parts.push(`${seconds}${s}`);
  return parts.length === 0 ? `0${m}` : parts.join(' ');
}
