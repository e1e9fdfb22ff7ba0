/** The knowledge base, from outside. Rules by number: `COVERAGE.md`. */
import assert from 'node:assert/strict';
import { after, describe } from 'node:test';
import { type Answer, before, it, problemsOf, Fixture } from './service.ts';

const BUNDLE = `
knowledgeBases:
  - { code: it, name: IT, visibility: internal, locales: [ru-RU, en-US], sections: [{ code: network }, { code: mail }] }
roles:
  - { code: editor, rights: [kb.read, kb.write, kb.publish], assignedTo: { users: [chief] } }
  - { code: reader, rights: [kb.read], assignedTo: { users: [helper] } }
`;

let fixture: Fixture;
let admin: string;
let reader: string;

function accepted(answer: Answer, status = 200): any {
  assert.equal(answer.status, status, answer.text.slice(0, 400));
  assert.deepEqual(problemsOf(answer), []);
  return answer.body.data;
}

function refused(answer: Answer, status: number, code: string): void {
  assert.deepEqual([answer.status, answer.body.error?.code], [status, code], answer.text.slice(0, 400));
  assert.deepEqual(problemsOf(answer), []);
}

let count = 0;

async function draft(more: object = {}): Promise<{ id: string; versionId: string; state: string; title: string }> {
  const standing = {
    baseId: 'it',
    sectionId: 'network',
    code: `kb-${count++}`,
    locale: 'ru-RU',
    visibility: 'internal',
  };
  const body = { ...standing, title: 'Как включить VPN', body: 'Откройте **настройки**.', ...more };
  return accepted(await fixture.api('POST', '/kb/articles', { body }), 201);
}

const manage = (method: string, place: string, body?: unknown): Promise<Answer> =>
  fixture.send(method, `/api/admin/v1/kb${place}`, { key: admin, ...(body === undefined ? {} : { body }) });
const publish = (versionId: string, key = fixture.key): Promise<Answer> =>
  fixture.api('POST', '/kb/articles/publish', { key, body: { versionId } });

async function published(more: object = {}): Promise<{ id: string; versionId: string }> {
  const { id, versionId } = await draft(more);
  accepted(await manage('PUT', `/article-versions/${versionId}/audiences`, { audiences: [{ kind: 'everyone' }] }));
  accepted(await publish(versionId));
  return { id, versionId };
}

describe('knowledge base', () => {
  before(async () => {
    fixture = await Fixture.start();
    await fixture.apply(BUNDLE);
    admin = await fixture.keyOf('chief', 'admin:manage');
    reader = await fixture.keyOf('helper');
  });
  after(() => fixture?.stop());

  it('creates drafts that only authors can find (K-3, K-7)', async () => {
    const made = await draft();
    assert.deepEqual([made.state, made.title], ['DRAFT', 'Как включить VPN']);
    refused(await fixture.api('GET', `/kb/articles/${made.id}`), 404, 'NOT_FOUND');
    assert.deepEqual(accepted(await fixture.api('GET', '/kb/articles')), []);
    const { rows } = accepted(await manage('GET', '/article-versions?state=DRAFT'));
    assert.deepEqual([rows.length, rows[0].versionId], [1, made.versionId]);
    refused(await fixture.api('POST', '/kb/articles', { key: reader, body: {} }), 400, 'INVALID_REQUEST');
    const body = { ...accepted(await manage('GET', `/article-versions/${made.versionId}`)) };
    assert.equal(body.body, 'Откройте **настройки**.');
  });

  it('changes drafts only, and never their section (K-4)', async () => {
    const { versionId } = await draft();
    const path = `/kb/article-versions/${versionId}`;
    assert.equal(accepted(await fixture.api('PATCH', path, { body: { title: 'Иначе' } })).title, 'Иначе');
    refused(await fixture.api('PATCH', path, { body: { sectionId: 'mail' } }), 400, 'INVALID_REQUEST');
    refused(await fixture.api('PATCH', path, { body: { visibility: 'portal' } }), 400, 'INVALID_VALUES');
    refused(await fixture.api('PATCH', path, { body: { body: 'a', bodyDocument: {} } }), 400, 'INVALID_REQUEST');
    refused(await fixture.api('PATCH', path, { key: reader, body: { title: 'x' } }), 403, 'RIGHT_MISSING');
    const active = await published();
    refused(
      await fixture.api('PATCH', `/kb/article-versions/${active.versionId}`, { body: { title: 'x' } }),
      409,
      'NOT_A_DRAFT',
    );
  });

  it('publishes for an audience only and returns both formats (K-1, K-2, K-5)', async () => {
    const { id, versionId } = await draft({ code: 'vpn' });
    refused(await publish(versionId), 409, 'AUDIENCE_MISSING');
    refused(await publish(versionId, reader), 403, 'RIGHT_MISSING');
    accepted(await manage('PUT', `/article-versions/${versionId}/audiences`, { audiences: [{ kind: 'everyone' }] }));
    assert.deepEqual(accepted(await publish(versionId)), { id, versionId, state: 'ACTIVE' });
    refused(await publish(versionId), 409, 'NOT_A_DRAFT');
    const read = accepted(await fixture.api('GET', `/kb/articles/${id}`, { key: reader }));
    assert.deepEqual([read.versionId, read.body], [versionId, 'Откройте **настройки**.']);
    assert.equal(read.bodyDocument.type, 'doc');
    const next = await draft({ code: 'vpn', title: 'Второе издание' });
    assert.equal(next.id, id);
    refused(
      await fixture.api('POST', '/kb/articles', {
        body: {
          baseId: 'it',
          sectionId: 'mail',
          code: 'vpn',
          title: 'x',
          locale: 'ru-RU',
          body: 'x',
          visibility: 'internal',
        },
      }),
      409,
      'ALREADY_EXISTS',
    );
    assert.equal(accepted(await fixture.api('GET', `/kb/articles/${id}`)).title, 'Как включить VPN');
    const listed = accepted(await fixture.api('GET', '/kb/articles', { key: reader }));
    assert.equal(listed.filter((one: { id: string }) => one.id === id).length, 1);
    refused(await fixture.api('GET', '/kb/articles?page=1'), 400, 'INVALID_REQUEST');
  });

  it('returns the requested translation or falls back to an existing one (K-2)', async () => {
    const { id } = await published({ code: 'two', title: 'По-русски' });
    await published({ code: 'two', title: 'In English', locale: 'en-US' });
    const title = async (query: string): Promise<string> =>
      accepted(await fixture.api('GET', `/kb/articles/${id}${query}`)).title;
    assert.deepEqual(
      [await title(''), await title('?locale=en-US'), await title('?locale=de-DE')],
      ['По-русски', 'In English', 'По-русски'],
    );
  });

  it('archives an article only with the confirmed version token (K-6)', async () => {
    const { id, versionId } = await published();
    const { version } = accepted(await manage('GET', `/articles/${id}/material`));
    const archive = (body: object): Promise<Answer> => fixture.api('POST', '/kb/articles/archive', { body });
    refused(await archive({ versionId, version, confirmed: false }), 400, 'INVALID_REQUEST');
    refused(await archive({ versionId, version: 'stale', confirmed: true }), 409, 'VERSION_TOKEN_STALE');
    assert.equal(accepted(await archive({ versionId, version, confirmed: true })).id, id);
    refused(await fixture.api('GET', `/kb/articles/${id}`), 404, 'NOT_FOUND');
  });

  it('removes scripts from article content (K-3)', async () => {
    const { versionId } = await draft({
      body: 'a <script>alert(1)</script> [x](javascript:alert(1)) <img src=x onerror=alert(1)>',
    });
    const { body, bodyDocument } = accepted(await manage('GET', `/article-versions/${versionId}`));
    for (const text of [body, JSON.stringify(bodyDocument)]) assert.doesNotMatch(text, /script|alert|onerror/);
  });
});
