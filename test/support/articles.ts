/** Helpers that create and publish articles, for tests of the knowledge base. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { TestAnswer } from './app.ts';
import type { CatalogFixture, FixtureUser } from './catalog-fixture.ts';

export interface Version {
  id: string;
  versionId: string;
  state: string;
  title: string;
}

export type Audience = { kind: 'everyone' } | { kind: 'group' | 'orgUnit' | 'user'; id: string };

export const EVERYONE: Audience[] = [{ kind: 'everyone' }];

export class Articles {
  readonly #world: CatalogFixture;

  constructor(fixture: CatalogFixture) {
    this.#world = fixture;
  }

  /** The body of a create, of a code that was never used. */
  body(more: Record<string, unknown> = {}): Record<string, unknown> {
    const text = Object.hasOwn(more, 'bodyDocument') ? {} : { body: 'Текст' };
    const standing = {
      baseId: 'it',
      sectionId: 'network',
      code: `a-${randomUUID()}`,
      locale: 'ru-RU',
      visibility: 'internal',
    };
    return { ...standing, title: 'Статья', ...text, ...more };
  }

  create(more: Record<string, unknown> = {}, who: FixtureUser = 'chief'): Promise<TestAnswer> {
    return this.#world.call(who, 'POST', '/kb/articles', this.body(more));
  }

  async draft(more: Record<string, unknown> = {}): Promise<Version> {
    const answer = await this.create(more);
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
    return answer.body.data;
  }

  async admit({ versionId }: { versionId: string }, audiences: readonly Audience[] = EVERYONE): Promise<void> {
    await this.#world.adminOk('chief', 'PUT', `/kb/article-versions/${versionId}/audiences`, { audiences });
  }

  publish({ versionId }: { versionId: string }, who: FixtureUser = 'chief'): Promise<TestAnswer> {
    return this.#world.call(who, 'POST', '/kb/articles/publish', { versionId });
  }

  async published(more: Record<string, unknown> = {}, audiences: readonly Audience[] = EVERYONE): Promise<Version> {
    const draft = await this.draft(more);
    await this.admit(draft, audiences);
    const answer = await this.publish(draft);
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    return { ...draft, state: 'ACTIVE' };
  }

  edit({ versionId }: { versionId: string }, changes: object, who: FixtureUser = 'chief'): Promise<TestAnswer> {
    return this.#world.call(who, 'PATCH', `/kb/article-versions/${versionId}`, changes);
  }

  /** The token of what the article has in the locale. */
  async token({ id }: { id: string }, locale = 'ru-RU'): Promise<string> {
    return (await this.#world.adminOk('chief', 'GET', `/kb/articles/${id}/material?locale=${locale}`)).version;
  }

  archive({ versionId }: { versionId: string }, version: string, who: FixtureUser = 'chief'): Promise<TestAnswer> {
    return this.#world.call(who, 'POST', '/kb/articles/archive', { versionId, version, confirmed: true });
  }

  /** True if the user finds the article in the list and can read it; both must agree. */
  async sees(who: FixtureUser, { id }: { id: string }, locale = 'ru-RU'): Promise<boolean> {
    const listed = await this.#world.ok<{ id: string }[]>(who, 'GET', `/kb/articles?locale=${locale}`);
    const answer = await this.#world.call(who, 'GET', `/kb/articles/${id}?locale=${locale}`);
    const found = listed.some((one) => one.id === id);
    assert.equal(answer.status, found ? 200 : 404);
    return found;
  }

  async version({ versionId }: { versionId: string }): Promise<any> {
    return await this.#world.adminOk('chief', 'GET', `/kb/article-versions/${versionId}`);
  }
}
