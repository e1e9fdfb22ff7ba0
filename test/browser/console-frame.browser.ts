/** The frame of the console: signing in and out, languages, colours, the policy, and what the first load weighs. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { LANGUAGES, PASSWORD, startConsole, type TestConsole } from '../support/console.ts';

let desk: TestConsole;

const WORDS = {
  'ru-RU': {
    signIn: 'Войти',
    login: 'Логин',
    password: 'Пароль',
    wrong: 'Неверный логин или пароль.',
    records: 'Все записи',
    signOut: 'Выйти',
  },
  'en-US': {
    signIn: 'Sign in',
    login: 'Login',
    password: 'Password',
    wrong: 'Wrong login or password.',
    records: 'All records',
    signOut: 'Sign out',
  },
} as const;

describe('the console', () => {
  before(async () => {
    desk = await startConsole();
  });
  after(() => desk.close());

  for (const language of LANGUAGES) {
    it(`signs a user in with the right password and out again: ${language}`, async () => {
      const words = WORDS[language];
      const watched = await desk.open(null, `/records/${desk.seeded.incident}?tab=files`, { language });
      const { page } = watched;
      await page.getByLabel(words.login).fill('admin');
      await page.getByRole('textbox', { name: words.password }).fill('not the password');
      await watched.check();
      await page.getByRole('button', { name: words.signIn }).click();
      await page.getByRole('alert').filter({ hasText: words.wrong }).waitFor();
      await page.getByRole('textbox', { name: words.password }).fill(PASSWORD);
      await page.getByRole('button', { name: words.signIn }).click();
      // Where one wanted to go is where one arrives.
      await page.waitForURL(`**/records/${desk.seeded.incident}?tab=files`);
      await page.getByRole('link', { name: 'журнал-почты.txt' }).waitFor();
      assert.equal(await page.evaluate('document.cookie'), '', 'no script sees the session');
      await page.reload();
      await page.getByRole('link', { name: 'журнал-почты.txt' }).waitFor();
      await page.getByRole('button', { name: 'Администратор' }).click();
      await page.getByRole('menuitem', { name: words.signOut }).click();
      await page.waitForURL('**/sign-in*');
      await watched.check();
      await watched.close();
    });
  }

  it('does not redirect to other sites after sign-in', async () => {
    const { page, close } = await desk.open(null, '/sign-in?to=//example.org/');
    await page.getByLabel('Логин').fill('admin');
    await page.getByRole('textbox', { name: 'Пароль' }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Войти' }).click();
    await page.waitForURL((url) => url.pathname !== '/sign-in');
    assert.equal(new URL(page.url()).origin, desk.url);
    await close();
  });

  it('changes language and colours at once', async () => {
    const watched = await desk.open('admin', '/records?type=incident');
    const { page } = watched;
    await page.getByRole('heading', { name: 'Инциденты' }).waitFor();
    await page.getByRole('button', { name: 'Администратор' }).click();
    await page.getByRole('menuitem', { name: 'English' }).click();
    await page.getByRole('heading', { name: 'Incidents' }).waitFor();
    await page.getByRole('link', { name: 'All records' }).waitFor();
    assert.equal(await page.evaluate('document.documentElement.lang'), 'en');
    await page.getByRole('grid').getByText('In progress').first().waitFor();
    await page.getByRole('button', { name: 'Администратор' }).click();
    await page.getByRole('menuitem', { name: 'Dark' }).click();
    await page.waitForFunction("document.documentElement.dataset.mantineColorScheme === 'dark'");
    await watched.check();
    await watched.close();
  });

  it('works on a phone', async () => {
    const watched = await desk.open('admin', '/records?type=incident', { width: 390, height: 844 });
    const { page } = watched;
    await page.getByRole('grid').getByText('VPN отключается').waitFor();
    await page.getByRole('button', { name: 'Меню' }).click();
    await page.getByRole('link', { name: 'Проблемы' }).click();
    await page.getByRole('grid').getByText('Почтовый шлюз').click();
    await page.getByRole('heading', { name: 'Почтовый шлюз отклоняет новые пароли' }).waitFor();
    const wide = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
    assert.equal(wide, 0, 'nothing sticks out');
    await watched.check();
    await watched.close();
  });

  it('is served with a strict content security policy and immutable assets', async () => {
    const first = await fetch(`${desk.url}/records`, { headers: { accept: 'text/html' } });
    const policy = first.headers.get('content-security-policy') ?? '';
    assert.match(policy, /default-src 'none'; script-src 'self'; style-src 'self' 'nonce-[\w-]{24}';/);
    assert.ok(!policy.includes('unsafe'), policy);
    const page = await first.text();
    const nonce = /nonce-([\w-]{24})/.exec(policy)?.[1] ?? '';
    assert.ok(page.includes(`content="${nonce}"`) && !page.includes('__CSP'), 'the page knows its own nonce');
    assert.ok(!/<script(?![^>]*src=)/.test(page) && !page.includes('<style'), 'nothing is inline');
    assert.equal(first.headers.get('cache-control'), 'no-store');
    assert.equal(first.headers.get('x-frame-options'), 'DENY');
    const again = await fetch(`${desk.url}/`);
    assert.notEqual(again.headers.get('content-security-policy'), policy, 'every answer has a nonce of its own');
    const script = /src="(\/assets\/[^"]+\.js)"/.exec(page)?.[1] ?? '';
    const asset = await fetch(desk.url + script, { headers: { 'accept-encoding': 'br' } });
    assert.equal(asset.headers.get('cache-control'), 'public, max-age=31536000, immutable');
    assert.equal(asset.headers.get('content-encoding'), 'br');
    assert.equal(asset.headers.get('content-type'), 'text/javascript; charset=utf-8');
    const etag = asset.headers.get('etag') ?? '';
    assert.equal((await fetch(desk.url + script, { headers: { 'if-none-match': etag } })).status, 304);
    assert.equal(
      (await fetch(desk.url + script, { headers: { 'accept-encoding': 'identity' } })).headers.get('content-encoding'),
      null,
    );
    for (const nowhere of ['/assets/none.js', '/api/v1/none', '/api/admin/v1/none', '/records', '/../package.json']) {
      const answer = await fetch(desk.url + nowhere, { headers: { accept: 'application/json' } });
      assert.equal(answer.status, 404, nowhere);
      assert.equal(((await answer.json()) as { error: { code: string } }).error.code, 'NOT_FOUND');
    }
    assert.equal(
      (await fetch(`${desk.url}/records`, { method: 'POST', headers: { accept: 'text/html' } })).status,
      404,
    );
  });

  it('loads less than 250 kB of compressed script to show a list', async () => {
    const { page, close } = await desk.open(null, '/sign-in');
    await page.waitForLoadState('networkidle');
    await close();
    const watched = await desk.open('admin', '/records');
    await watched.page.getByRole('grid').getByText('INC0000001').waitFor();
    await watched.page.waitForLoadState('networkidle');
    const bytes = await watched.page.evaluate<number>(
      `performance.getEntriesByType('resource').filter((entry) => entry.name.endsWith('.js'))
        .reduce((sum, entry) => sum + entry.encodedBodySize, 0)`,
    );
    assert.ok(bytes > 50_000 && bytes < 250_000, `${bytes} bytes`);
    await watched.close();
  });
});
