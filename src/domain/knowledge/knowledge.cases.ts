/** Calls of the operations for the tests over all modules (docs/how-to/write-a-module.md#the-cases). */
import { randomUUID, hash } from 'node:crypto';
import { repeat, textOf } from '../../../test/support/largest-texts.ts';
import { type Call, MINIMAL, missing, type OperationCase } from '../../../test/support/operation-calls-case.ts';
import type { ModuleCases } from '../../../test/support/operation-calls-fixture.ts';
import { idOf, stored } from '../../../test/support/small-configuration.ts';

const EVERYONE = '00000000-0000-0000-0000-000000000000';
const GIF = 'data:image/gif;base64,R0lGODlhAQABAAAAADs=';
const SHA256 = hash('sha256', Buffer.from(GIF.slice(GIF.indexOf(',') + 1), 'base64'));

interface Version {
  id: string;
  versionId: string;
}

/** An article with a long text. */
const longArticle = (body: string) => ({
  baseId: 'kb',
  sectionId: 'first',
  code: `a-${randomUUID()}`,
  title: 'T',
  locale: 'ru-RU',
  visibility: 'internal',
  body,
});

export const cases: ModuleCases = {
  world: `
knowledgeBases:
  - { code: kb, name: KB, visibility: internal, locales: [ru-RU], sections: [{ code: first }] }
`,
  of: (make) => {
    const content = (body = 'Text') => ({ title: 'Article', body, locale: 'ru-RU', visibility: 'internal' });
    const create = () => ({ baseId: 'kb', sectionId: 'first', code: `a-${randomUUID()}`, ...content(`![](${GIF})`) });
    const newDraft = () => ({ baseId: 'kb', sectionId: 'first', title: 'Article', locale: 'ru-RU', body: 'Text' });
    const draft = async (): Promise<Version> => {
      const version = await make.send('POST', '/kb/articles', create());
      await admit(version, EVERYONE);
      return version;
    };
    const admit = (version: Version, id: string): Promise<unknown> =>
      stored(
        make.app,
        `UPDATE kb_versions SET audience_ids = ARRAY[$2::uuid], audiences = '[{"kind":"everyone"}]' WHERE id = $1`,
        [version.versionId, id],
      );
    const published = async (): Promise<Version> => {
      const version = await draft();
      await make.send('POST', '/kb/articles/publish', { versionId: version.versionId });
      return version;
    };
    /** Published, but not for `partial`. */
    const closed = async (): Promise<Version> => {
      const version = await published();
      await admit(version, await idOf(make.app, 'users', 'full'));
      return version;
    };
    /** A draft of a base that is there no more. */
    const gone = async (): Promise<Version> => {
      const version = await draft();
      await stored(
        make.app,
        `INSERT INTO config_items (id, section, code, state, definition, compiled, created_at, updated_at)
        SELECT gen_random_uuid(), section, 'gone', 'ARCHIVED', definition, compiled, now(), now() FROM config_items
        WHERE section = 'knowledgeBases' AND code = 'kb' ON CONFLICT DO NOTHING`,
      );
      await stored(
        make.app,
        `UPDATE kb_articles SET base_id = (SELECT id FROM config_items WHERE code = 'gone') WHERE id = $1`,
        [version.id],
      );
      return version;
    };
    /** A call on a version, given as a parameter of the path. */
    const onVersion = (body: () => unknown = () => undefined): Pick<OperationCase, 'call' | 'hidden' | 'lacks'> => {
      const call = (versionId: string): Call => ({ params: { versionId }, body: body() });
      return {
        call: async () => call((await draft()).versionId),
        lacks: missing('kb.write'),
        hidden: { seen: async () => call((await gone()).versionId), absent: () => call(randomUUID()) },
      };
    };
    const token = async ({ id }: Version): Promise<string> =>
      (await make.admin('GET', `/kb/articles/${id}/material`)).version;
    const article = ({ id }: Version): Call => ({ params: { articleId: id } });
    const absent = (): Call => article({ id: randomUUID(), versionId: '' });
    const image = ({ id }: { id: string }): Call => ({ params: { articleId: id, sha256: SHA256 } });
    return {
      'kb.list': { call: () => ({}), lacks: missing('kb.read') },
      'kb.get': {
        call: async () => article(await published()),
        lacks: missing('kb.read'),
        hidden: { seen: async () => article(await closed()), absent },
      },
      'kb.image': {
        call: async () => image(await published()),
        lacks: missing('kb.read'),
        hidden: { seen: async () => image(await gone()), absent: () => image({ id: randomUUID() }) },
      },
      'kb.create': {
        call: () => ({ body: create() }),
        lacks: missing('kb.write'),
        large: () => [
          { name: 'ordinary text', body: longArticle(textOf('different words', 200_000)), status: 201 },
          {
            name: 'open addresses',
            body: longArticle(repeat('<http://', 200_000)),
            status: 400,
            code: 'INVALID_VALUES',
          },
        ],
      },
      'kb.edit': { ...onVersion(() => ({ title: 'Other' })), large: MINIMAL },
      'kb.publish': {
        call: async () => ({ body: { versionId: (await draft()).versionId } }),
        lacks: missing('kb.publish'),
        hidden: {
          seen: async () => ({ body: { versionId: (await gone()).versionId } }),
          absent: () => ({ body: { versionId: randomUUID() } }),
        },
        large: async (seen) => {
          const { versionId } = await seen.send('POST', '/kb/articles', longArticle(textOf('Chinese signs', 200_000)));
          await stored(
            seen.app,
            `UPDATE kb_versions SET audience_ids = ARRAY['00000000-0000-0000-0000-000000000000'::uuid],
      audiences = '[{"kind":"everyone"}]' WHERE id = $1`,
            [versionId],
          );
          return [{ name: 'a long text', body: { versionId }, status: 200 }];
        },
      },
      'kb.archive': {
        call: async () => {
          const version = await published();
          return { body: { versionId: version.versionId, version: await token(version), confirmed: true } };
        },
        lacks: missing('kb.write'),
        hidden: {
          seen: async () => ({ body: { versionId: (await gone()).versionId, version: 'x', confirmed: true } }),
          absent: () => ({ body: { versionId: randomUUID(), version: 'x', confirmed: true } }),
        },
      },
      'kb.contents': { call: () => ({}), lacks: missing('kb.read') },
      'kb.browse': {
        call: () => ({ query: '?sort=popular' }),
        lacks: missing('kb.read'),
        hidden: {
          seen: async () => ({ query: `?relatedTo=${(await closed()).id}` }),
          absent: () => ({ query: `?relatedTo=${randomUUID()}` }),
        },
      },
      'kb.view': {
        call: async () => article(await published()),
        lacks: missing('kb.read'),
        hidden: { seen: async () => article(await closed()), absent },
      },
      'kb.vote': {
        call: async () => ({ ...article(await published()), body: { helpful: true } }),
        lacks: missing('kb.read'),
        hidden: {
          seen: async () => ({ ...article(await closed()), body: { helpful: true } }),
          absent: () => ({ ...absent(), body: { helpful: true } }),
        },
      },
      'kb.draft': {
        call: () => ({ body: newDraft() }),
        lacks: missing('kb.write'),
        large: () => {
          const { code: _code, visibility: _visibility, ...body } = longArticle(textOf('different words', 200_000));
          const audiences = Array.from({ length: 1000 }, () => ({ kind: 'everyone' }));
          return [
            {
              name: 'a long text and audience',
              body: { ...body, title: '\u0451'.repeat(300), audiences },
              status: 201,
            },
          ];
        },
      },
      'kb.review': {
        call: async () => ({ ...article(await draft()), body: { reviewOn: '2030-01-31' } }),
        lacks: missing('kb.write'),
        hidden: {
          seen: async () => ({ ...article(await gone()), body: { reviewOn: null } }),
          absent: () => ({ ...absent(), body: { reviewOn: null } }),
        },
      },
      'kb.bases': { call: () => ({}), lacks: missing('kb.write') },
      'kb.versions': { call: () => ({}), lacks: missing('kb.write') },
      'kb.version': onVersion(),
      'kb.audiences': onVersion(),
      'kb.set-audiences': { ...onVersion(() => ({ audiences: [{ kind: 'everyone' }] })), large: MINIMAL },
      'kb.restore': {
        ...onVersion(),
        call: async () => {
          const { versionId } = await draft();
          await stored(make.app, `UPDATE kb_versions SET state = 'ARCHIVED', draft_locale = NULL WHERE id = $1`, [
            versionId,
          ]);
          return { params: { versionId } };
        },
      },
      'kb.material': {
        call: async () => article(await published()),
        lacks: missing('kb.write'),
        hidden: { seen: async () => article(await gone()), absent },
      },
    };
  },
};
