import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { canonicalDate, canonicalDuration, canonicalInstant, canonicalTime } from './times.ts';

test('durations have one canonical form', () => {
  for (const [given, form] of [
    ['PT0S', 'PT0S'],
    ['P0D', 'PT0S'],
    ['-P0D', 'PT0S'],
    ['PT60M', 'PT1H'],
    ['PT3661S', 'PT1H1M1S'],
    ['PT1.50S', 'PT1.5S'],
    ['PT0.000000001S', 'PT0.000000001S'],
    ['P1W1D', 'P8D'],
    ['P13M', 'P1Y1M'],
    ['PT24H', 'PT24H'],
    ['-PT90M', '-PT1H30M'],
    ['P1Y2M3W4DT5H6M7.8S', 'P1Y2M25DT5H6M7.8S'],
  ]) {
    assert.equal(canonicalDuration(given), form);
    assert.equal(canonicalDuration(form), form);
  }
  for (const given of ['', 'P', 'PT', 'P1', 'P1DT', '1D', 'P-1D', 'P1.5D', 'PT1,5S', 'p1d', '+P1D', 'P1M1Y']) {
    assert.equal(canonicalDuration(given), undefined, given);
  }
});

test('dates, times and instants that do not exist are rejected', () => {
  for (const date of [
    '2025-02-29',
    '2026-13-01',
    '2026-00-01',
    '2026-01-00',
    '2026-1-1',
    '10000-01-01',
    '0000-12-31',
  ]) {
    assert.equal(canonicalDate(date), undefined, date);
  }
  assert.equal(canonicalDate('2024-02-29'), '2024-02-29');
  assert.equal(canonicalInstant('0001-01-01T00:00:00+00:01'), undefined);
  assert.equal(canonicalInstant('0001-01-01T00:00:00Z'), '0001-01-01T00:00:00.000Z');
  assert.equal(canonicalInstant('2026-11-21t09:15:00.1z'), '2026-11-21T09:15:00.100Z');
  assert.equal(canonicalInstant('2026-11-21T09:15:00.123456789012Z'), '2026-11-21T09:15:00.123Z');
  assert.equal(canonicalInstant('2026-11-21T09:15:60Z'), undefined);
  assert.equal(canonicalTime('23:59:59.5'), '23:59:59.500');
  assert.equal(canonicalTime('00:00'), '00:00:00');
});

/** What `Temporal` makes of a text of the same form. */
function instantByTemporal(text: string): string | undefined {
  try {
    const instant = Temporal.Instant.from(text).toString({ smallestUnit: 'millisecond' });
    return /^[0-9]/.test(instant) && !instant.startsWith('0000') ? instant : undefined;
  } catch {
    return undefined;
  }
}

function dateByTemporal(text: string): string | undefined {
  try {
    return text.startsWith('0000') ? undefined : Temporal.PlainDate.from(text).toString();
  } catch {
    return undefined;
  }
}

test('dates and instants are those of the Gregorian calendar', () => {
  const part = (max: number, width: number) => fc.integer({ min: 0, max }).map((n) => String(n).padStart(width, '0'));
  const year = fc.oneof(part(9999, 4), fc.constantFrom('0000', '0001', '1900', '2000', '2024', '2025', '2100', '9999'));
  const day = fc.tuple(year, part(13, 2), part(32, 2)).map((parts) => parts.join('-'));
  const time = fc.tuple(part(24, 2), part(60, 2), part(60, 2)).map((parts) => parts.join(':'));
  const offset = fc.oneof(
    fc.constant('Z'),
    fc.tuple(fc.constantFrom('+', '-'), part(24, 2), part(60, 2)).map(([sign, h, m]) => `${sign}${h}:${m}`),
  );
  fc.assert(
    fc.property(day, time, fc.constantFrom('', '.5', '.123', '.123456'), offset, (date, at, fraction, zone) => {
      assert.equal(canonicalDate(date), dateByTemporal(date), date);
      const text = `${date}T${at}${fraction}${zone}`;
      // Temporal reads a leap second as the second before it; RFC 3339 timestamps with one are refused here.
      if (!at.endsWith(':60')) assert.equal(canonicalInstant(text), instantByTemporal(text), text);
    }),
    { numRuns: 3000 },
  );
});
