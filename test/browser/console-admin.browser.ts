/** The administration screens for users, rights, keys and configuration: the main path of each, in both languages. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import {
  byTurns,
  LANGUAGES,
  screenLoaded,
  screensOf,
  showScreen,
  startConsole,
  type TestConsole,
  type WatchedPage,
} from '../support/console.ts';

const WORDS = {
  'ru-RU': {
    form: 'Форма',
    text: 'Текст',
    apply: 'Применить',
    applied: 'Применено',
    archive: 'В архив',
    keyName: 'Название',
    issue: 'Создать ключ',
    readRecords: 'Просмотр записей и истории',
    toList: 'К списку ключей',
    revoke: 'Отозвать',
    revoked: 'Ключ отозван',
    keyActions: 'Действия с ключом',
    rotate: 'Заменить секрет',
    sees: 'Запись доступна',
    seesNot: 'Запись недоступна',
    asSeen: 'Просмотр от имени: Мария Иванова',
    hidden: 'скрыто',
    removeOption: 'Удалить вариант: p4',
    gone: 'вариант p4 удалён',
    reset: 'Отменить изменения',
    priority: 'Приоритет',
    ready: 'Работает',
    show: 'Показать изменения',
    meanwhile: 'Изменено за это время',
    newest: 'Применить поверх',
    impact: 'Последствия',
    check: 'Проверить',
    succeeds: 'Запрос выполнится: 200',
    goBack: 'Вернуться',
    samara: 'Часовой пояс',
    yaml: 'YAML или JSON',
    pasted: 'Текст конфигурации',
    wrong: 'Ошибки',
    noState: 'Состояния nowhere в этом процессе нет.',
    nobody: 'Пользователя с логином nobody-here нет.',
    name: 'Имя',
    save: 'Сохранить',
    saved: 'Сохранено',
    login: 'Логин',
    mail: 'Почта',
    create: 'Создать',
    graph: 'Схема процесса',
    addState: 'Добавить состояние',
    addField: 'Добавить поле',
    change: 'Изменения',
    code: 'Код',
    sources: 'Исходные типы записей',
    targets: 'Целевые типы записей',
    incident: 'Инцидент',
    title: 'Название',
    largest: 'Максимальный размер вложения, байт',
  },
  'en-US': {
    form: 'Form',
    text: 'Text',
    apply: 'Apply',
    applied: 'Applied',
    archive: 'Archive',
    keyName: 'Name',
    issue: 'Create key',
    readRecords: 'View records and their history',
    toList: 'Back to keys',
    revoke: 'Revoke',
    revoked: 'Key revoked',
    keyActions: 'Actions on the key',
    rotate: 'Rotate secret',
    sees: 'Can view this record',
    seesNot: 'Cannot view this record',
    asSeen: 'Record as seen by Мария Иванова',
    hidden: 'hidden',
    removeOption: 'Remove option: p4',
    gone: 'the option p4 is gone',
    reset: 'Discard changes',
    priority: 'Priority',
    ready: 'Operational',
    show: 'Show changes',
    meanwhile: 'Changed meanwhile',
    newest: 'Apply to the newest version',
    impact: 'Impact',
    check: 'Check',
    succeeds: 'The request would succeed: 200',
    goBack: 'Go back',
    samara: 'Time zone',
    yaml: 'YAML or JSON',
    pasted: 'Configuration text',
    wrong: 'Errors',
    noState: 'The workflow has no state nowhere.',
    nobody: 'There is no user with the login nobody-here.',
    name: 'Name',
    save: 'Save',
    saved: 'Saved',
    login: 'Login',
    mail: 'Email',
    create: 'Create',
    graph: 'Workflow diagram',
    addState: 'Add state',
    addField: 'Add field',
    change: 'Changes',
    code: 'Code',
    sources: 'Source record types',
    targets: 'Target record types',
    incident: 'Incident',
    title: 'Name',
    largest: 'Maximum attachment size, bytes',
  },
} as const;

/** Sections whose items are created from a template, by their screens. */
const SECTIONS = [
  ['services', 'services'],
  ['relations', 'relationDefinitions'],
  ['catalogs', 'catalogs'],
  ['bases', 'knowledgeBases'],
  ['roles', 'roles'],
] as const;

/** Every screen of the administration, and a subpage. */
const SCREENS = [...screensOf('admin/screens.ts', '/admin'), '/admin/roles/agent', '/admin/rules/_map'];

/** Applies the content of the editor and confirms. The impact is shown before. */
async function apply(page: Page, words: (typeof WORDS)['ru-RU' | 'en-US']): Promise<void> {
  await page.getByRole('button', { name: words.apply, exact: true }).click();
  await page.locator(`section[aria-label="${words.impact}"][aria-busy=false]`).waitFor();
  // The word for "applied" may occur elsewhere on the page.
  const answer = page.waitForResponse((one) => one.url().endsWith('/config/apply'));
  await page.getByRole('dialog').getByRole('button', { name: words.apply, exact: true }).click();
  assert.equal((await answer).status(), 200);
  await page.getByText(words.applied).first().waitFor();
}

describe('administration in the console', () => {
  let desk: TestConsole;
  before(async () => {
    desk = await startConsole();
  });
  after(() => desk.close());

  const visit = async (
    language: 'ru-RU' | 'en-US',
    path: string,
    walk: (page: Page, words: (typeof WORDS)['ru-RU' | 'en-US'], watched: WatchedPage) => Promise<void>,
  ): Promise<void> => {
    const watched = await desk.open('admin', `/admin/${path}`, { language });
    await walk(watched.page, WORDS[language], watched);
    await watched.check();
    await watched.close();
  };

  for (const language of LANGUAGES) {
    const it = byTurns(language);
    const mark = language.slice(0, 2);

    it(`issues a key, rotates its secret and revokes it: ${language}`, () =>
      visit(language, 'keys/new', async (page, words, watched) => {
        await page.getByLabel(words.keyName, { exact: false }).first().fill(`Robot ${mark}`);
        await page.getByRole('checkbox', { name: words.readRecords }).check();
        await watched.check();
        await page.getByRole('button', { name: words.issue }).click();
        const secret = await page.locator('[data-secret]').textContent();
        const types = await desk.app.request('GET', '/api/v1/objects', { key: secret ?? '' });
        assert.equal(types.status, 200, 'the key works');
        await page.getByRole('button', { name: words.toList }).click();
        await page.getByRole('button', { name: `${words.keyActions} Robot ${mark}` }).click();
        await page.getByRole('menuitem', { name: words.rotate }).click();
        await page.getByRole('dialog').getByRole('button', { name: words.rotate }).click();
        await page.getByRole('dialog').locator('[data-secret]').waitFor();
        await page.keyboard.press('Escape');
        await page.getByRole('dialog').waitFor({ state: 'hidden' });
        await page.getByRole('button', { name: `${words.keyActions} Robot ${mark}` }).click();
        await page.getByRole('menuitem', { name: words.revoke }).click();
        await page.getByRole('dialog').getByRole('button', { name: words.revoke }).click();
        await page.getByText(words.revoked).waitFor();
        const refused = await desk.app.request('GET', '/api/v1/objects', { key: secret ?? '' });
        assert.equal(refused.status, 401);
      }));

    it(`creates and edits a user: ${language}`, () =>
      visit(language, 'people/new', async (page, words) => {
        await page.getByLabel(words.login).fill(`new-${mark}`);
        await page.getByLabel(words.name, { exact: false }).first().fill(`Вера ${mark}`);
        await page.getByLabel(words.mail).fill(`vera-${mark}@example.org`);
        await page.getByRole('button', { name: words.create, exact: true }).last().click();
        await page.getByRole('heading', { name: `Вера ${mark}` }).waitFor();
        await page.getByLabel(words.mail).fill(`v-${mark}@example.org`);
        await page.getByRole('button', { name: words.save }).click();
        await page.getByText(words.saved).first().waitFor();
        const users = await desk.call('GET', '/identity/users');
        const mail = users.find((user: { login: string }) => user.login === `new-${mark}`).email;
        assert.equal(mail, `v-${mark}@example.org`);
      }));

    it(`explains why one user sees a record and another does not: ${language}`, async () => {
      const { petrova, guliev, ivanova } = desk.seeded.people;
      await visit(language, `roles/_person/${petrova}/${desk.seeded.incident}`, async (page, words) => {
        await page.getByText(words.sees).waitFor();
        await page.getByRole('button', { name: words.check, exact: true }).click();
        await page.getByText(words.succeeds).waitFor();
      });
      await visit(language, `roles/_person/${ivanova}/${desk.seeded.incident}`, async (page, words) => {
        const seen = page.getByLabel(words.asSeen);
        await seen.getByText('Мария Иванова').waitFor();
        await seen.getByText(words.hidden).first().waitFor();
        assert.equal(await seen.getByText('Анна Петрова').count(), 0, 'the assignee is not hers to see');
      });
      await visit(language, `roles/_person/${guliev}/${desk.seeded.incident}`, async (page) => {
        // They hold no role.
        await page.getByRole('status').waitFor();
      });
    });

    it(`draws a workflow while it is edited and rejects an invalid one: ${language}`, () =>
      visit(language, 'workflows/incident', async (page, words) => {
        await page.locator('.react-flow__node').nth(5).waitFor();
        await page.getByRole('button', { name: words.addState }).click();
        await page.locator('.react-flow__node').nth(6).waitFor();
        // A line from state to state is a new transition.
        const start = await page.locator('.react-flow__node[data-id=new] .react-flow__handle-right').boundingBox();
        const end = await page.locator('.react-flow__node[data-id=resolved]').boundingBox();
        assert.ok(start !== null && end !== null);
        await page.mouse.move(start.x + start.width / 2, start.y + start.height / 2);
        await page.mouse.down();
        await page.mouse.move(end.x + 10, end.y + end.height / 2, { steps: 5 });
        await page.mouse.up();
        await page.locator('.react-flow__edge', { hasText: 'transition-1' }).waitFor();
        await page.getByText(words.text, { exact: true }).click();
        const editor = page.getByRole('textbox', { name: words.yaml });
        await editor.fill(`${await editor.inputValue()}  - code: broken\n    from: [nowhere]\n    to: closed\n`);
        await page.getByRole('list', { name: words.wrong }).getByText(words.noState).waitFor();
        await page.getByTitle(words.noState).waitFor();
        await page.getByRole('button', { name: words.apply, exact: true, disabled: true }).waitFor();
      }));

    it(`edits a type in its form, previews the effect and applies it: ${language}`, () =>
      visit(language, 'types/problem', async (page, words, watched) => {
        await page.getByRole('button', { name: words.addField }).click();
        await page.getByText(words.change).waitFor();
        await watched.check();
        await apply(page, words);
        const item = await desk.call('GET', '/config/types/problem');
        assert.match(item.text, /code: field\d/);
        // The effect of a change is shown in the language of the console before it is applied.
        await page.goto(`${desk.url}/admin/types/incident`);
        await page.getByRole('button', { name: `${words.priority} priority` }).click();
        await page.getByRole('button', { name: words.removeOption }).click();
        await page.getByText(words.gone).waitFor();
        await watched.check();
        await page.getByRole('button', { name: words.reset }).click();
      }));

    it(`plans and applies pasted configuration, after changes of others and back to a version: ${language}`, () =>
      visit(language, 'configuration', async (page, words, watched) => {
        const editor = page.getByRole('textbox', { name: words.pasted });
        await editor.fill('groups:\n  - code: pasted\n    users: [nobody-here]\n');
        await page.getByRole('button', { name: words.show }).click();
        await page.getByRole('list', { name: words.wrong }).getByText(words.nobody).waitFor();
        await editor.fill(`groups:\n  - code: pasted-${mark}\n    users: [petrova]\n`);
        await page.getByRole('button', { name: words.show }).click();
        await page.getByText(`pasted-${mark}`).nth(1).waitFor();
        await apply(page, words);
        const groups = await desk.call('GET', '/identity/groups');
        assert.ok(groups.some((group: { code: string }) => group.code === `pasted-${mark}`));
        // Another administrator changes something between plan and apply.
        const service = (code: string) => `services:\n  - code: ${code}-${mark}\n    name: Service ${code}-${mark}\n`;
        await editor.fill(service('mine'));
        await page.getByRole('button', { name: words.show }).click();
        await page.getByRole('region', { name: `: Service mine-${mark}` }).waitFor();
        await desk.call('POST', '/config/apply', { files: [{ name: 'a.yaml', text: service('theirs') }] });
        await page.getByRole('button', { name: words.apply, exact: true }).click();
        await page.getByRole('dialog').getByRole('button', { name: words.apply, exact: true }).click();
        const dialog = page.getByRole('dialog');
        await dialog.getByRole('heading', { name: words.meanwhile }).waitFor();
        await dialog.getByRole('region', { name: `: Service theirs-${mark}` }).waitFor();
        await watched.check();
        await dialog.getByRole('button', { name: words.newest }).click();
        await page.getByText(words.applied).first().waitFor();
        assert.equal((await desk.call('GET', `/config/services/mine-${mark}`)).state, 'ACTIVE');
        await page
          .getByRole('listitem')
          .filter({ hasText: `: Service theirs-${mark}` })
          .waitFor();
        await page.getByRole('button', { name: words.goBack }).first().click();
        await page.getByRole('region', { name: `: Service mine-${mark}` }).waitFor();
        await watched.check();
      }));

    it(`creates a group of synonyms: ${language}`, () =>
      visit(language, 'synonyms/new', async (page, words) => {
        await page.locator('main').getByRole('combobox').pressSequentially(`vpn${mark} впн `);
        await apply(page, words);
        assert.equal((await desk.call('GET', `/config/synonyms/vpn${mark}`)).text, `- vpn${mark}\n- впн\n`);
      }));

    it(`shows the health of the service: ${language}`, () =>
      visit(language, 'health', (page, words) => page.getByRole('heading', { name: words.ready }).waitFor()));
  }

  for (const language of LANGUAGES) {
    const it = byTurns(language, 'en-US');
    const mark = language.slice(0, 2);

    it(`creates services, relations, catalogues, knowledge bases, roles, groups and units: ${language}`, () =>
      visit(language, 'services/new', async (page, words, watched) => {
        for (const [path, section] of SECTIONS) {
          const code = `${path}-${mark}`;
          if (path !== 'services') await showScreen(page, `/admin/${path}/new`);
          await page.getByRole('textbox', { name: words.code, exact: true }).first().fill(code);
          if (path === 'relations') {
            for (const side of [words.sources, words.targets]) {
              await page.getByRole('combobox', { name: side }).click();
              await page.getByRole('option', { name: words.incident }).click();
              await page.keyboard.press('Escape');
            }
          }
          await watched.check();
          await apply(page, words);
          await page.waitForURL(`**/admin/${path}/${code}`);
          assert.equal((await desk.call('GET', `/config/${section}/${code}`)).code, code);
        }
        for (const [path, list] of [
          ['groups', '/identity/groups'],
          ['units', '/identity/org-units'],
        ] as const) {
          const created = page.waitForResponse(
            (answer) => answer.request().method() === 'POST' && answer.url().endsWith(list),
          );
          // The list that the page loads at first is older than the new item.
          await page.route(
            `**${list}`,
            async (route) => {
              const response = await route.fetch();
              await created;
              await route.fulfill({ response });
            },
            { times: 1 },
          );
          await page.goto(`${desk.url}/admin/${path}/new`);
          await page.getByRole('textbox', { name: words.title, exact: true }).fill(`Новое ${path} ${mark}`);
          await page.getByRole('textbox', { name: words.code, exact: true }).fill(`made-${mark}`);
          await page.getByRole('button', { name: words.create, exact: true }).last().click();
          await page.getByRole('heading', { name: `Новое ${path} ${mark}` }).waitFor();
          await watched.check();
          const made = await desk.call('GET', list);
          assert.ok(made.some((one: { code: string }) => one.code === `made-${mark}`));
        }
        await page.goto(`${desk.url}/admin/settings`);
        await page.getByRole('textbox', { name: words.largest }).fill(mark === 'ru' ? '2000000' : '3000000');
        await apply(page, words);
        await page.reload();
        const kept = await page.getByRole('textbox', { name: words.largest }).inputValue();
        assert.equal(kept.replaceAll(/\D/g, ''), mark === 'ru' ? '2000000' : '3000000');
      }));
  }

  // On a wide screen `accessibility.browser.ts` shows every screen, in English.
  it('shows every screen without an error on a phone', async () => {
    const watched = await desk.open('admin', '/admin', { scheme: 'dark', width: 390, height: 844 });
    await screenLoaded(watched.page);
    for (const path of ['/admin', ...SCREENS]) {
      if (path !== '/admin') await showScreen(watched.page, path);
      const wide = await watched.page.evaluate('document.documentElement.scrollWidth - innerWidth');
      assert.equal(wide, 0, `${path}: nothing sticks out`);
      await watched.check();
    }
    await watched.close();
  });

  it('is not offered to an agent', async () => {
    const { page, close } = await desk.open('petrova', '/admin/keys');
    for (const path of SCREENS) {
      await showScreen(page, '/account');
      await showScreen(page, path);
      assert.equal(await page.getByRole('link', { name: 'Ключи API' }).count(), 0);
      await page.getByRole('heading', { name: 'Страница не найдена' }).waitFor();
    }
    await close();
    const forged = await desk.open('petrova', '/');
    const status = await forged.page.evaluate<number>(
      "fetch('/api/admin/v1/config/types/incident').then((answer) => answer.status)",
    );
    assert.equal(status, 403);
    await forged.close();
  });
});
