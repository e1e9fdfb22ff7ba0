/** The migration linter rejects statements that block a running service or remove what the previous version uses. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { complaints } from '../tools/migrations.ts';

describe('the migration linter', () => {
  let folder: string;

  before(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'docket-lint-'));
  });
  after(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  it('rejects statements that lock, rewrite, rename or remove, and accepts additive ones', () => {
    const refused: Record<string, string> = {
      'CREATE INDEX objects_title ON objects (title);': 'require-concurrent-index-creation',
      'ALTER TABLE objects ADD COLUMN weight integer NOT NULL;': 'adding-required-field',
      'ALTER TABLE objects DROP COLUMN title;': 'ban-drop-column',
      'DROP TABLE outbox;': 'ban-drop-table',
      'ALTER TABLE objects RENAME COLUMN title TO name;': 'renaming-column',
      'ALTER TABLE objects RENAME TO records;': 'renaming-table',
      'ALTER TABLE objects ALTER COLUMN revision TYPE bigint;': 'changing-column-type',
      'ALTER TABLE objects ADD CONSTRAINT positive CHECK (revision > 0);': 'constraint-missing-not-valid',
      'ALTER TABLE objects ADD CONSTRAINT once UNIQUE (title);': 'disallowed-unique-constraint',
      'ALTER TABLE objects ADD FOREIGN KEY (created_by) REFERENCES users (id);': 'adding-foreign-key-constraint',
      'ALTER TABLE objects ALTER COLUMN title SET NOT NULL;': 'adding-not-nullable-field',
    };
    const allowed = [
      'ALTER TABLE objects ADD COLUMN weight bigint;',
      'ALTER TABLE objects ADD COLUMN weight bigint NOT NULL DEFAULT 0;',
      'CREATE TABLE more (id uuid PRIMARY KEY, name text NOT NULL);\nCREATE INDEX more_name ON more (name);',
      'ALTER TABLE objects ADD CONSTRAINT positive CHECK (revision > 0) NOT VALID;',
    ];
    const texts = [...Object.keys(refused), ...allowed];
    const files = texts.map((text, index) => {
      const file = path.join(folder, `${String(index + 2).padStart(4, '0')}-sample.sql`);
      writeFileSync(file, `${text}\n`);
      return file;
    });
    const found = complaints(files);
    for (const [index, text] of texts.entries()) {
      const rules = found.filter(({ file }) => file === files[index]).map(({ rule }) => rule);
      const expected = refused[text];
      if (expected === undefined) assert.deepEqual(rules, [], text);
      else assert.ok(rules.includes(expected), `${text}: ${rules.join() || 'nothing'}`);
    }
  });

  it('exempts only indexes on tables that the first release creates', () => {
    const file = path.join(folder, '0001-first.sql');
    writeFileSync(file, 'CREATE INDEX objects_title ON objects (title);\nALTER TABLE objects DROP COLUMN title;\n');
    assert.deepEqual(
      complaints([file]).map(({ rule }) => rule),
      ['ban-drop-column'],
    );
  });
});
