import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { watchAnswers } from '../../../test/support/response-check.ts';
import { bundle } from '../../../test/support/small-configuration.ts';
import { type SearchFixture, startSearchFixture } from '../../../test/support/search-fixture.ts';

describe('search by words', () => {
  let world: SearchFixture;
  let problems: string[];
  before(async () => {
    world = await startSearchFixture();
    problems = watchAnswers(world.app);
  });
  after(async () => {
    await world.close();
    assert.deepEqual(problems, []);
  });

  const finds = async (text: string, ...questions: string[]): Promise<void> => {
    const title = `${text} (made for ${questions.join(', ')})`.slice(0, 900);
    const id = await world.make({ title: text, body: title });
    for (const q of questions) {
      const { body } = await world.search('chief', { q });
      const ids = body.data.results.map((result: { id: string }) => result.id);
      assert.ok(ids.includes(id), `${q} finds ${text}: ${JSON.stringify(body.data.total)}`);
    }
  };

  it('finds a record in the next request after its write, and not after its archiving', async () => {
    const id = await world.make({ title: 'Broken gramophone' });
    assert.deepEqual(await world.titles('chief', { q: 'gramophone' }), ['Broken gramophone']);
    await world.ok('chief', 'PATCH', `/objects/${id}`, {
      expectedRevision: 1,
      changes: { title: 'Mended phonograph' },
    });
    assert.deepEqual(await world.titles('chief', { q: 'gramophone' }), []);
    assert.deepEqual(await world.titles('chief', { q: 'phonograph' }), ['Mended phonograph']);
    await world.ok('chief', 'DELETE', `/objects/${id}`, { expectedRevision: 2 });
    assert.deepEqual(await world.titles('chief', { q: 'phonograph' }), []);
    const listed = await world.ok('chief', 'GET', '/objects?state=ARCHIVED&q=phonograph');
    assert.deepEqual(
      listed.rows.map((row: { id: string }) => row.id),
      [id],
    );
    const login = await world.app.request('GET', '/api/v1/search?q=phonograph', { key: world.keys.stranger });
    assert.equal(login.body.data.total, 0);
  });

  it('matches Russian and English stems, ё as е, any case and accents', async () => {
    await finds('Сломались принтеры бухгалтерии', 'принтер', 'ПРИНТЕРА', 'сломался бухгалтерия');
    await finds('Ёлка в вестибюле', 'елка', 'ЁЛКИ');
    await finds('Running servers crashed', 'server', 'run', 'crash');
    await finds('Café Zoë déjà', 'cafe', 'CAFÉ', 'zoe deja', 'déjà');
    await finds('Ошибка login после Update', 'ошибки LOGIN', 'updates');
  });

  it('matches numbers and words with hyphens and dots', async () => {
    await finds('Invoice 0004711 lost', '0004711', '4711');
    await finds('See RFC-2616 and jquery.ui', 'RFC-2616', 'rfc 2616', 'jquery.ui', 'jquery ui');
    await finds('version 3.14.15 fails', '3.14.15');
  });

  it('matches texts without spaces', async () => {
    await finds('打印机无法连接网络', '打印机', '网络', '连接网络');
    await finds('プリンターが動かない', 'プリンター');
  });

  it('matches the prefix of the last word only', async () => {
    await world.make({ title: 'Xylophone orchestra' });
    assert.deepEqual(await world.titles('chief', { q: 'xylo' }), ['Xylophone orchestra']);
    assert.deepEqual(await world.titles('chief', { q: 'orchestra xyl' }), ['Xylophone orchestra']);
  });

  it('finds a record by its number and by a prefix of it', async () => {
    const id = await world.make({ title: 'Numbered' });
    const { number } = await world.ok('chief', 'GET', `/objects/${id}`);
    assert.match(number, /^TCK\d{6}$/);
    for (const q of [number, number.toLowerCase(), number.slice(0, -1)]) {
      const { body } = await world.search('chief', { q });
      assert.ok(
        body.data.results.some((result: { id: string }) => result.id === id),
        q,
      );
    }
    const [only, ...others] = (await world.search('chief', { q: number })).body.data.results;
    assert.equal(only.number, number);
    assert.equal(only.id, id);
    assert.ok(others.every((other: { score: number }) => other.score < only.score));
  });

  it('corrects one typo in words of at least five letters if nothing matches exactly', async () => {
    await world.make({ title: 'Kaleidoscope delivery' });
    await world.make({ title: 'Синхрофазотрон отказал' });
    for (const q of ['kaleidscope', 'kaleidoscoppe', 'kalaidoscope', 'akleidoscope', 'Kaleidsocope']) {
      assert.deepEqual(await world.titles('chief', { q }), ['Kaleidoscope delivery'], q);
    }
    assert.deepEqual(await world.titles('chief', { q: 'синхрафазотрон' }), ['Синхрофазотрон отказал']);
    assert.deepEqual(await world.titles('chief', { q: 'kqleidqscope' }), []);
  });

  it('finds words typed in the wrong keyboard layout or the other alphabet, after exact ones', async () => {
    await world.make({ title: 'Проектор мигает', body: 'сообщение' });
    for (const q of ['ghjtrnjh', 'proektor', 'Cjj,otybt']) {
      const [hit] = (await world.search('chief', { q })).body.data.results;
      assert.equal(hit?.title, 'Проектор мигает', q);
      assert.match(hit.snippet, /<mark>/, q);
    }
    await world.make({ title: 'Gamepad drifts' });
    assert.deepEqual(await world.titles('chief', { q: 'пфьузфв' }), ['Gamepad drifts']);
    assert.deepEqual(await world.titles('chief', { q: 'дрифтс' }), ['Gamepad drifts']);
    await world.make({ title: 'Proektor arrived' });
    assert.deepEqual(await world.titles('chief', { q: 'proektor' }), ['Proektor arrived']);
  });

  it('finds synonyms below the words themselves, in fields that the caller may read', async () => {
    const { key } = await world.app.createKey({ login: 'chief', scopes: ['admin:manage'] });
    const admin = async (method: string, path: string, body?: object): Promise<any> => {
      const answer = await world.app.request(method, `/api/admin/v1/config${path}`, { key, ...(body && { body }) });
      assert.equal(answer.status, 200, JSON.stringify(answer.body));
      return answer.body.data;
    };
    await world.make({ title: 'Кнопка и ютуб', region: 'north' });
    await world.make({ title: 'YouTube buffers', region: 'north' });
    await world.make({ title: 'Quiet', secret: 'YouTube', region: 'north' });
    await world.make({ title: 'Zoom echoes', region: 'north' });
    assert.deepEqual(await world.titles('chief', { q: 'ютубе' }), ['Кнопка и ютуб']);
    await admin('POST', '/apply', { files: bundle('synonyms: [ [ютуб, YouTube], [видеосвязь, Zoom, телемост] ]') });
    const { results } = (await world.search('chief', { q: 'ютубе' })).body.data;
    assert.equal(results[0].title, 'Кнопка и ютуб');
    assert.deepEqual(results.map((hit: { title: string }) => hit.title).sort(), [
      'Quiet',
      'YouTube buffers',
      'Кнопка и ютуб',
    ]);
    assert.ok(results[0].score > 3 && results[1].score < 3 && results[2].score < 3);
    assert.match(JSON.stringify(results), /<mark>YouTube<\/mark> buffers/);
    assert.deepEqual(await world.titles('north', { q: 'ютубе' }), ['Кнопка и ютуб', 'YouTube buffers']);
    const [both] = await world.titles('north', { q: 'кнопка youtube' });
    assert.equal(both, 'Кнопка и ютуб');
    const listed = await world.ok('north', 'GET', `/objects?q=${encodeURIComponent('телемосты')}`);
    assert.deepEqual(
      listed.rows.map((row: { title: string }) => row.title),
      ['Zoom echoes'],
    );
    const items = await admin('GET', '/synonyms?include=usedBy');
    assert.deepEqual(
      items.map(({ code, name }: { code: string; name: string }) => [code, name]),
      [
        ['видеосвязь', 'видеосвязь, Zoom, телемост'],
        ['ютуб', 'ютуб, YouTube'],
      ],
    );
    const { text } = await admin('GET', `/synonyms/${encodeURIComponent('ютуб')}`);
    assert.equal(text, '- ютуб\n- YouTube\n');
    await admin('POST', '/apply', { files: [], archive: [{ section: 'synonyms', code: 'ютуб' }] });
    assert.deepEqual(await world.titles('chief', { q: 'ютубе' }), ['Кнопка и ютуб']);
  });

  it('ranks full matches before partial matches and those before similar words', async () => {
    await world.make({ title: 'Quokka zeppelin' });
    await world.make({ title: 'Quokka alone' });
    await world.make({ title: 'Zeppelins alone' });
    await world.make({ title: 'Zeppelyn misspelt' });
    const { body } = await world.search('chief', { q: 'quokka zeppelin' });
    const { results, total, totalExact } = body.data;
    assert.equal(results[0].title, 'Quokka zeppelin');
    assert.equal(results.at(-1).title, 'Zeppelyn misspelt');
    assert.deepEqual([total, totalExact], [4, true]);
    const scores = results.map((result: { score: number }) => result.score);
    assert.deepEqual(
      scores,
      [...scores].sort((a: number, b: number) => b - a),
    );
    assert.ok(scores[0] > scores[1] && scores[2] > scores[3]);
  });

  it('puts a title that equals the question first, and counts many words with a prefix as one', async () => {
    await world.make({ title: 'Bug', body: 'short' });
    await world.make({ title: 'Wasp and bug' });
    const many = 'bugaboo bugbane bugbear bugeye bugfish bugle bugler bugloss bugproof bugwort';
    await world.make({ title: 'Letters', body: many, tags: many.split(' ') });
    assert.deepEqual(await world.titles('chief', { q: 'bug' }), ['Bug', 'Wasp and bug', 'Letters']);
    await world.make({ title: 'Ёжик  в тумане' });
    await world.make({ title: 'Ёжик в тумане, ежик в тумане' });
    assert.deepEqual((await world.titles('chief', { q: 'ежик в Тумане' }))[0], 'Ёжик  в тумане');
    // `GET /search` needs two letters or digits; lists find such a title by itself.
    const sign = await world.make({ title: '?!' });
    const listed = await world.ok('chief', 'GET', `/objects?q=${encodeURIComponent('?!')}`);
    assert.deepEqual(
      listed.rows.map((row: { id: string }) => row.id),
      [sign],
    );
  });

  it('lifts a record by the titles of its duplicates, but only of those that the caller may read', async () => {
    const body = 'aardvark display';
    const original = await world.make({ title: 'Monitor stays dark every morning', body, region: 'north' });
    await world.make({ title: 'Monitor stays dark', body, region: 'north' });
    const duplicate = await world.make({ title: 'Aardvark display flickers', region: 'south' });
    const order = ['Monitor stays dark', 'Monitor stays dark every morning'];
    assert.deepEqual(await world.titles('north', { q: body }), order);
    const definitions = await world.ok('chief', 'GET', '/relation-definitions');
    await world.ok('chief', 'POST', `/objects/${duplicate}/relations`, {
      definitionId: definitions[0].id,
      targetObjectId: original,
    });
    assert.deepEqual(await world.titles('north', { q: body }), order);
    assert.deepEqual(await world.titles('chief', { q: body }), [
      'Monitor stays dark every morning',
      'Aardvark display flickers',
      'Monitor stays dark',
    ]);
  });

  it('marks hits in escaped text', async () => {
    await world.make({ title: 'Snippet', body: '<b>Hippopotamus</b> & "friends" came <script>alert(1)</script>' });
    const [hit] = (await world.search('chief', { q: 'hippopotamus' })).body.data.results;
    assert.equal(
      hit.snippet,
      '&lt;b&gt;<mark>Hippopotamus</mark>&lt;/b&gt; &amp; &quot;friends&quot; came &lt;script&gt;alert(1)&lt;/script&gt;',
    );
    assert.equal(hit.title, 'Snippet');
    assert.deepEqual(Object.keys(hit.values).sort(), ['body', 'kind', 'title']);
  });

  it('rejects invalid searches', async () => {
    const refused = async (query: Record<string, unknown>, code: string, path: string): Promise<void> => {
      const { status, body } = await world.search('chief', query);
      assert.equal(status, 400, JSON.stringify(query));
      assert.equal(body.error.code, code, JSON.stringify(query));
      assert.equal(body.error.details[0].path, path);
    };
    await refused({}, 'INVALID_REQUEST', 'query.q');
    for (const q of ['', 'a', '%', '_%', 'a%', '---', '\u0301']) await refused({ q }, 'QUERY_TOO_SHORT', 'query.q');
    await refused({ q: 'ab', kinds: 'thing' }, 'INVALID_REQUEST', 'query.kinds');
    await refused({ q: 'ab', kinds: '' }, 'INVALID_REQUEST', 'query.kinds');
    await refused({ q: 'ab', page: 0 }, 'INVALID_REQUEST', 'query.page');
    await refused({ q: 'ab', pageSize: 101 }, 'INVALID_REQUEST', 'query.pageSize');
    await refused({ q: 'ab', sort: 'x' }, 'INVALID_REQUEST', 'query.sort');
    await refused({ q: 'x'.repeat(4001) }, 'INVALID_REQUEST', 'query.q');
    assert.equal((await world.search('chief', { q: 'a1' })).status, 200);
    assert.equal((await world.search('chief', { q: '打印' })).status, 200);
  });

  it('accepts any text', async () => {
    const typed = [
      `' OR 1=1 --`,
      `a' & 'b`,
      'foo:* | bar',
      '\\\\ab\\',
      'ab\u0001ticket\u0001cd',
      '\ud83d\ude00 ab',
      '!(a & b) <-> c',
      "''''ab''''",
      'a.b.c.d-e-f_g',
      '0'.repeat(300),
      'é'.repeat(100),
      `${'word '.repeat(500)}`,
      Array.from({ length: 400 }, (_, index) => `w${index}`).join(' '),
      '\u200b\u200bab\u202e',
      'ａｂ ﬁ ß İ ı ς',
    ];
    for (const q of typed) assert.equal((await world.search('chief', { q })).status, 200, q.slice(0, 50));
    for (const q of ['a', '%', '_', "'", '']) {
      const { status } = await world.call('chief', 'GET', `/objects?q=${encodeURIComponent(q)}`);
      assert.equal(status, 200, q);
    }
  });
});
