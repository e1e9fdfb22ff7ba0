/** The language of `docket plan --markdown`. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PlannedChange } from '../configuration/engine.ts';
import { planMarkdown } from './plan-text.ts';
import { environmentLanguage, languageOf } from './reader-language.ts';

const item = (differences: PlannedChange['differences']): PlannedChange => ({
  section: 'types',
  code: 'incident',
  id: null,
  action: 'change',
  differences,
  moreDifferences: 0,
});

describe('the language of the reader', () => {
  it('is named by the environment in the order of POSIX', () => {
    assert.equal(environmentLanguage({ LANG: 'ru_RU.UTF-8' }), 'ru');
    assert.equal(environmentLanguage({ LANG: 'ru_RU.UTF-8', LC_ALL: 'en_US.UTF-8' }), 'en');
    assert.equal(environmentLanguage({ LANG: 'de_DE', LC_MESSAGES: 'ru', LC_ALL: '' }), 'ru');
    for (const none of [{}, { LANG: 'C' }, { LANG: 'C.UTF-8' }, { LC_ALL: 'POSIX' }]) {
      assert.equal(environmentLanguage(none), 'en');
    }
    assert.equal(languageOf('ru-RU'), 'ru');
    assert.throws(() => languageOf('Russian'), /Russian is not a language/);
  });

  it('is the only one in the Markdown of a plan', () => {
    const field = {
      code: 'impact',
      name: { 'ru-RU': 'Влияние', 'en-US': 'Impact' },
      constraints: { options: [{ code: 'low', name: { 'ru-RU': 'Низкое', 'en-US': 'Low' } }] },
    };
    const changes = [
      item([
        { path: 'fields[impact]', after: field },
        { path: 'name.ru-RU', before: 'Сбой', after: 'Инцидент' },
        { path: 'name.en-US', before: 'Failure', after: 'Incident' },
      ]),
    ];
    const english = planMarkdown(changes, { language: 'en' });
    assert.doesNotMatch(english, /\p{Script=Cyrillic}/u);
    assert.match(english, /"en-US":"Impact".*"en-US":"Low"/);
    assert.match(english, /^- name\.en-US \(also ru-RU\): "Failure"\n\+ name\.en-US \(also ru-RU\): "Incident"$/m);
    const russian = planMarkdown(changes, { language: 'ru' });
    assert.doesNotMatch(russian, /Impact|Low|Failure|Incident/);
    assert.match(russian, /^\+ name\.ru-RU \(also en-US\): "Инцидент"$/m);
  });

  it('hides no change and nothing that is no text in languages', () => {
    const changes = [
      item([
        { path: 'name.ru-RU', before: 'Сбой', after: 'Инцидент' },
        { path: 'set', after: { who: 'a', to: 'b', 'ru-RU': 'c', title: 'd' } },
        { path: 'help', after: { 'ru-RU': 'Только по-русски' } },
      ]),
    ];
    const text = planMarkdown(changes, { language: 'en' });
    for (const shown of ['Инцидент', '{"who":"a","to":"b","ru-RU":"c","title":"d"}', 'Только по-русски']) {
      assert.ok(text.includes(shown), shown);
    }
  });
});
