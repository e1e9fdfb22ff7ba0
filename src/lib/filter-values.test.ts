import assert from 'node:assert/strict';
import { test } from 'node:test';
import { foldNumber, NUMBER_FOLDING } from './filter-fields.ts';
import { canonicalDate, canonicalDuration, canonicalInstant, canonicalTime } from './filter-values.ts';
import { fold } from './text.ts';

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

test('letters of record numbers are folded like other text', () => {
  assert.equal(NUMBER_FOLDING.from.length, NUMBER_FOLDING.to.length);
  for (const letter of NUMBER_FOLDING.from) {
    assert.equal(foldNumber(letter), fold(letter));
    assert.equal(NUMBER_FOLDING.to[NUMBER_FOLDING.from.indexOf(letter)], fold(letter));
  }
  assert.equal(foldNumber('INC-0042 É'), 'inc-0042 É');
});
