import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assignLogins, loginKey } from './users.ts';

function logins(handles: string[], taken: string[] = []): string[] {
  return [...assignLogins(handles, taken).byHandle.values()].map((person) => person.login);
}

test('keeps distinct handles as they are', () => {
  const people = assignLogins(['john', 'Louis-Rémi', 'henrah+jquer']);
  assert.deepEqual(
    [...people.byHandle.values()].map((person) => person.login),
    ['john', 'Louis-Rémi', 'henrah+jquer'],
  );
  assert.deepEqual(people.alike, []);
  assert.deepEqual(people.reshaped, []);
});

test('adds a suffix to a later duplicate and reports it', () => {
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

test('never gives a suffixed login that belongs to another user', () => {
  assert.deepEqual(logins(['mike', 'Mike', 'mike-2']), ['mike', 'Mike-3', 'mike-2']);
});

test('never assigns a login twice', () => {
  assert.deepEqual(logins(['Replay'], ['replay']), ['Replay-2']);
});

test('rewrites a handle that cannot be a login, and reports it', () => {
  const people = assignLogins(['two words', 'zero\u200bwidth', '\u0007']);
  assert.deepEqual(
    people.reshaped.map((person) => person.login),
    ['two-words', 'zero-width', '-'],
  );
});

test('maps a repeated handle to one user', () => {
  assert.equal(assignLogins(['john', 'john']).byHandle.size, 1);
});

test('compares logins without case and in compatibility form', () => {
  assert.equal(loginKey('ＪＯＨＮ'), loginKey('john'));
  assert.equal(loginKey('STRASSE'), loginKey('straße'));
});
