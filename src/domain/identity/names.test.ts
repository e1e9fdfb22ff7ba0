import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { findKey, nameKey } from './rules.ts';
import { isEmail } from '../../lib/data-types/index.ts';

describe('the normal form of names', () => {
  it('is equal for names that differ only in case or Unicode composition', () => {
    const same = [
      ['Petrova', 'PETROVA', 'petrova', 'ｐｅｔｒｏｖａ'],
      ['Артём', 'АРТЕМ', 'арте\u0308м'],
      ['straße', 'STRASSE', 'ſtrasse'],
      ['ΣΊΣΥΦΟΣ', 'σίσυφος'],
      ['ﬁle', 'FILE'],
    ];
    for (const names of same) assert.equal(new Set(names.map(nameKey)).size, 1, names.join());
  });

  it('differs for names that only look alike', () => {
    assert.notEqual(nameKey('admin'), nameKey('аdmin'));
    assert.notEqual(nameKey('ıvan'), nameKey('ivan'));
  });

  it('is idempotent', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1, maxLength: 30 }), (name) => {
        const key = findKey(name);
        if (key !== undefined) assert.equal(nameKey(key), key);
      }),
      { numRuns: 2000 },
    );
  });

  it('rejects invisible characters and empty names', () => {
    const refused = [
      '',
      ' petrova',
      'petrova ',
      'pet\u200brova',
      'pet\u00adrova',
      '\u202epetrova',
      'pet\u0000rova',
      'pet\nrova',
      'petrova\ufe0f',
      '\u3164',
      '\u2800',
      '\ud800',
      '\ue000',
      'x'.repeat(256),
    ];
    for (const name of refused) {
      assert.throws(() => nameKey(name), JSON.stringify(name));
      assert.equal(findKey(name), undefined);
    }
  });

  it('validates e-mail addresses', () => {
    for (const good of ['petrova@example.org', "o'neil+it@mail.example.org", 'анна@пример.рф'])
      assert.ok(isEmail(good), good);
    for (const bad of [
      'petrova',
      '@example.org',
      'a@b',
      '.a@example.org',
      'a..b@example.org',
      'a@-b.org',
      'a@1.2',
      'a b@c.org',
    ]) {
      assert.ok(!isEmail(bad), bad);
    }
  });
});
