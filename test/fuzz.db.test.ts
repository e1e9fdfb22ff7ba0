/** The short version of `npm run test:fuzz`, and a test that the oracle detects errors. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { responseOracle, type ResponseOracle } from './proofs/fuzz/oracle.ts';
import { fuzz } from './proofs/fuzz/run.ts';
import type { RawResponse, RawRequest } from './proofs/fuzz/raw-http.ts';

describe('generated requests', () => {
  it('get only documented responses', async () => {
    const report = await fuzz({ requests: 700, seed: Number(process.env['DOCKET_FUZZ_SEED'] ?? 7), say: () => {} });
    assert.deepEqual(report.problems.slice(0, 5), []);
    assert.equal(report.overloaded, 0, 'nothing is overloaded by one request at a time');
    assert.ok(
      report.succeeded > report.operations * 0.5,
      `${report.succeeded} of ${report.operations} operations went well`,
    );
  });
});

describe('the response oracle', () => {
  const shot: RawRequest = {
    way: 'test',
    operation: 'objects.get',
    who: 'nobody',
    method: 'GET',
    path: '/api/v1/objects/x',
    headers: [],
    params: {},
  };
  const rules: ResponseOracle = {
    checks: [],
    pointless: new Set(),
    forbidden: (who) => (who === 'nobody' ? ['canary'] : []),
    mayWrite: () => false,
  };
  const seen = (status: number, error: object | undefined, more: Partial<RawResponse> = {}): RawResponse => {
    const meta = { correlationId: 'c', apiVersion: 'v1' };
    const body = error === undefined ? { data: {}, meta } : { error, meta };
    const headers = new Headers({ 'x-correlation-id': 'c', 'x-content-type-options': 'nosniff' });
    return { status, body, text: JSON.stringify(body), headers, ms: 1, ...more };
  };
  const fault = (code: string, details: unknown = []): object => {
    return { code, message: 'Say it better.', details };
  };
  const said = (one: RawResponse, changed: Partial<RawRequest> = {}): string =>
    responseOracle(rules, { ...shot, ...changed }, one).join();

  it('accepts a valid response', () => {
    assert.equal(said(seen(200, undefined)), '');
    assert.equal(said(seen(404, fault('NOT_FOUND'))), '');
  });

  it('detects each kind of invalid response', () => {
    assert.match(said(seen(500, fault('INTERNAL'))), /status 500/);
    assert.match(said(seen(503, fault('OVERLOADED'))), /without Retry-After/);
    assert.match(said(seen(400, fault('NOT_FOUND'))), /NOT_FOUND came as 400/);
    assert.match(said(seen(404, undefined)), /no error shape/);
    assert.match(said(seen(405, fault('METHOD_NOT_ALLOWED'))), /without Allow/);
    assert.match(said(seen(401, fault('UNAUTHENTICATED'))), /without WWW-Authenticate/);
    assert.match(said(seen(404, fault('NOT_FOUND'), { headers: new Headers() })), /no X-Correlation-Id/);
    assert.match(said(seen(200, undefined, { text: 'a canary sings' })), /holds canary/);
    assert.match(said(seen(200, undefined), { method: 'POST' }), /one without rights was let/);
    const wrong = { code: 'INVALID_REQUEST', message: 'TypeError: x is undefined', details: [] };
    assert.match(said(seen(400, wrong)), /speaks of the inside/);
    const lost = [{ path: '/values/nowhere/deep', code: 'X', message: 'x' }];
    const body = Buffer.from('{"values":{}}');
    assert.match(said(seen(400, fault('INVALID_REQUEST', lost)), { body }), /points nowhere/);
    const found = [{ path: '/values/title', code: 'X', message: 'x' }];
    assert.equal(said(seen(400, fault('INVALID_REQUEST', found)), { body }), '');
  });
});
