import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { childrenOf, poolFor } from './processes.ts';

describe('process and connection counts', () => {
  it('gives background work its own process beside the serving ones', () => {
    const names = (...asked: Parameters<typeof childrenOf>): string[] => childrenOf(...asked).map(({ name }) => name);
    assert.deepEqual(names('all', 2), ['api-1', 'api-2', 'worker-1']);
    assert.deepEqual(names('api', 2), ['api-1', 'api-2']);
    assert.deepEqual(names('worker', 2), ['worker-1', 'worker-2']);
  });

  it('never exceeds the connection limit of the server, for any number of processes', () => {
    for (let children = 1; children <= 19; children++) {
      const each = poolFor(children, 97, 20);
      assert.ok(each >= 4 && each <= 20 && each * children <= 97 - 17, `${children} × ${each}`);
    }
    assert.throws(() => poolFor(20, 97, 20), /DOCKET_POOL/);
  });
});
