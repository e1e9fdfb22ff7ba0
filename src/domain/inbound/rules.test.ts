import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { valueAtPath } from '../../lib/mapping.ts';
import { mapCall } from './rules.ts';

const body = {
  alert: { labels: { host: 'db-1', '': 'empty' }, summary: null, count: 0, ok: false },
  items: [{ name: 'first' }, [1, 2], 'text'],
  text: 'abc',
};

describe('valueAtPath', () => {
  it('returns own properties at any depth', () => {
    assert.equal(valueAtPath(body, 'alert.labels.host'), 'db-1');
    assert.equal(valueAtPath(body, 'items.0.name'), 'first');
    assert.equal(valueAtPath(body, 'items.1.1'), 2);
    assert.equal(valueAtPath(['x', { y: 1 }], '1.y'), 1);
    assert.deepEqual(valueAtPath(body, 'alert.labels'), body.alert.labels);
    for (const [path, value] of [
      ['alert.summary', null],
      ['alert.count', 0],
      ['alert.ok', false],
    ] as const) {
      assert.equal(valueAtPath(body, path), value, path);
    }
  });

  it('returns undefined for inherited and missing properties', () => {
    const paths = [
      'nothing',
      'alert.nothing.more',
      'alert.summary.more',
      'constructor',
      'constructor.name',
      '__proto__',
      '__proto__.toString',
      'alert.hasOwnProperty',
      'items.length',
      'items.3',
      'items.00',
      'items.-1',
      'items.+1',
      'items.1e0',
      'items. 1',
      'items.at',
      'text.length',
      'text.0',
    ];
    for (const path of paths) assert.equal(valueAtPath(body, path), undefined, path);
    for (const other of [null, 5, 'text', true]) assert.equal(valueAtPath(other, 'length'), undefined);
  });

  it('finds every value by its path and nothing outside the body', () => {
    const key = fc.oneof(
      fc.constantFrom('constructor', 'length', 'toString', '0', 'a'),
      fc.stringMatching(/^[^.]{1,5}$/),
    );
    const json = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom<unknown>(null, 0, 'x', true),
        fc.array(tie('value'), { maxLength: 4 }),
        fc.dictionary(key, tie('value'), { maxKeys: 4, noNullPrototype: true }),
      ),
    })).value;
    fc.assert(
      fc.property(json, fc.array(key, { minLength: 1, maxLength: 4 }), (given, path) => {
        // Uses only the JSON text, which has no prototypes.
        let at: unknown = JSON.parse(JSON.stringify(given));
        for (const step of path) {
          const members: [string, unknown][] = typeof at === 'object' && at !== null ? Object.entries(at) : [];
          at = members.find(([name]) => name === step)?.[1];
        }
        assert.deepEqual(valueAtPath(given, path.join('.')), at);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('mapCall', () => {
  const config = (command: 'object.create' | 'object.update' | 'comment.add', targets: Record<string, string>) => ({
    typeId: 'T',
    config: { command, mapping: Object.entries(targets).map(([target, source]) => ({ target, source })) },
  });

  it('maps a body to the request of the command', () => {
    assert.deepEqual(
      mapCall(config('object.create', { title: 'text', host: 'alert.labels.host', gone: 'x.y' }), body),
      {
        method: 'POST',
        path: '/objects',
        params: {},
        body: { typeDefinitionId: 'T', values: { title: 'abc', host: 'db-1' } },
      },
    );
    assert.deepEqual(
      mapCall(
        config('object.update', { objectId: 'text', expectedRevision: 'alert.count', note: 'alert.summary' }),
        body,
      ),
      {
        method: 'PATCH',
        path: '/objects/{objectId}',
        params: { objectId: 'abc' },
        body: { expectedRevision: 0, changes: { note: null } },
      },
    );
    assert.deepEqual(mapCall(config('object.update', { objectId: 'gone', expectedRevision: 'gone' }), body), {
      method: 'PATCH',
      path: '/objects/{objectId}',
      params: {},
      body: { changes: {} },
    });
  });

  it('uses the visibility of the body, else the configured one, else none', () => {
    const integration = config('comment.add', { objectId: 'text', body: 'text', visibility: 'v' });
    const configured = { ...integration, config: { ...integration.config, visibility: 'public' as const } };
    const visibility = (of: typeof integration, given: object): unknown =>
      mapCall(of, { ...body, ...given }).body['visibility'];
    assert.equal(visibility(integration, {}), undefined);
    assert.equal(visibility(configured, {}), 'public');
    assert.equal(visibility(configured, { v: 'internal' }), 'internal');
    assert.equal(visibility(configured, { v: null }), null);
  });

  it('does not write to prototypes', () => {
    const made = mapCall(config('object.create', { title: 'text' }), JSON.parse('{"text": {"__proto__": {"x": 1}}}'));
    assert.equal(Object.getPrototypeOf(made.body['values']), Object.prototype);
    assert.equal(({} as { x?: unknown }).x, undefined);
  });
});
