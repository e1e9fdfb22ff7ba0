import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { FAULT_CODES, faultPage } from './faults.ts';
import { type OpenApi, referencePage } from './page.ts';

const document = JSON.parse(readFileSync(new URL('../../../openapi/v1.json', import.meta.url), 'utf8')) as OpenApi;
const page = referencePage(document, '/api/v1/openapi.json');

describe('the API reference', () => {
  it('shows every operation once, with its path and a link from the overview', () => {
    const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.values(methods).map(({ operationId }) => ({ path, operationId })),
    );
    assert.ok(operations.length > 20);
    for (const { path, operationId } of operations) {
      assert.equal(page.split(`id="${operationId}"`).length, 2, operationId);
      assert.ok(page.includes(`href="#${operationId}"`), operationId);
      assert.ok(page.includes(`<code>/api/v1${path}</code>`), path);
    }
  });

  it('has no broken internal link', () => {
    const targets = new Set([...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id));
    const links = [...page.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id);
    assert.ok(links.length > 50);
    assert.deepEqual(
      links.filter((id) => !targets.has(id ?? '')),
      [],
    );
  });

  it('shows the examples of request and response', () => {
    const article = page.split('id="objects.create"')[1]?.split('</article>')[0] ?? '';
    assert.equal(article.split('<summary>Example</summary>').length, 3);
    assert.ok(article.includes('&quot;typeDefinitionId&quot;: &quot;incident&quot;'));
  });

  it('shows each error code that an operation can return', () => {
    const article = page.split('id="objects.update"')[1]?.split('</article>')[0] ?? '';
    for (const code of ['REVISION_CONFLICT', 'FIELD_READ_ONLY', 'INVALID_VALUES', 'ARCHIVED']) {
      assert.ok(article.includes(`<a href="#error-${code}"><code>${code}</code></a>`), code);
    }
  });

  it('has a page for every error code with links to the operations that return it', () => {
    for (const code of FAULT_CODES) {
      assert.ok(page.includes(`<a href="/docs/errors/${code}">`), code);
      const own = faultPage(document, code);
      for (const heading of ['Cause', 'What to do', 'Example']) assert.ok(own.includes(`<h2>${heading}</h2>`), code);
      assert.ok(own.includes(`&quot;code&quot;: &quot;${code}&quot;`), code);
      assert.doesNotMatch(own, /<script|<img|<link|undefined|\[object/i);
      for (const [, id = ''] of own.matchAll(/href="\/docs#([^"]+)"/g))
        assert.ok(page.includes(`id="${id}"`), `${code} ${id}`);
    }
    const conflict = faultPage(document, 'REVISION_CONFLICT');
    assert.match(conflict, /href="\/docs#objects\.update"/);
    assert.doesNotMatch(conflict, /href="\/docs#objects\.list"/);
    assert.match(faultPage(document, 'OVERLOADED'), /Any operation/);
  });

  it('loads nothing external, runs no script and escapes texts', () => {
    assert.doesNotMatch(page, /<script|<img|<link|javascript:|\son\w+=/i);
    assert.doesNotMatch(page, /(?:src|href)="https?:/);
    const hostile: OpenApi = structuredClone(document);
    hostile.info.title = '<script>alert(1)</script>';
    assert.doesNotMatch(referencePage(hostile, '/x'), /<script/);
  });
});
