import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assignLogins, loginKey } from './people.ts';

function logins(handles: string[], taken: string[] = []): string[] {
  return [...assignLogins(handles, taken).byHandle.values()].map((person) => person.login);
}

test('handles that differ keep their own form', () => {
  const people = assignLogins(['john', 'Louis-Rémi', 'henrah+jquer']);
  assert.deepEqual(
    [...people.byHandle.values()].map((person) => person.login),
    ['john', 'Louis-Rémi', 'henrah+jquer'],
  );
  assert.deepEqual(people.alike, []);
  assert.deepEqual(people.reshaped, []);
});

test('whoever comes later gets a suffix, and is told', () => {
  const people = assignLogins(['John', 'john', 'JOHN']);
  assert.deepEqual(
    [...people.byHandle.values()].map((person) => person.login),
    ['John', 'john-2', 'JOHN-3'],
  );
  assert.deepEqual(
    people.alike.map((person) => person.handle),
    ['john', 'JOHN'],
  );
});

test('a suffix takes nobody’s own login', () => {
  assert.deepEqual(logins(['mike', 'Mike', 'mike-2']), ['mike', 'Mike-3', 'mike-2']);
});

test('a login that is taken is not given again', () => {
  assert.deepEqual(logins(['Replay'], ['replay']), ['Replay-2']);
});

test('what cannot be a login is reshaped, and told', () => {
  const people = assignLogins(['two words', 'zero\u200bwidth', '\u0007']);
  assert.deepEqual(
    people.reshaped.map((person) => person.login),
    ['two-words', 'zero-width', '-'],
  );
});

test('a handle named twice is one person', () => {
  assert.equal(assignLogins(['john', 'john']).byHandle.size, 1);
});

test('the key of a login ignores case and compatibility forms', () => {
  assert.equal(loginKey('ＪＯＨＮ'), loginKey('john'));
  assert.equal(loginKey('STRASSE'), loginKey('straße'));
});
