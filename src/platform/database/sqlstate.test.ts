import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FAULTS } from '../../lib/fault-codes.ts';
import { Fault } from '../../lib/fault.ts';
import { type Constraints, DatabaseFailure, isConnectionLost, isRetryable, toFault } from './sqlstate.ts';

const SECRET = 'ivanov@example.org';

function fromServer(code: string, more: Record<string, string> = {}): Error {
  return Object.assign(new Error(`something about ${SECRET}`), {
    code,
    severity: 'ERROR',
    detail: `Key (email)=(${SECRET}) already exists.`,
    ...more,
  });
}

function fromSocket(code: string, syscall: string): Error {
  return Object.assign(new Error(`${syscall} ${code} /data/postgres`), { code, syscall, errno: -1 });
}

function fault(error: unknown, constraints?: Constraints): Fault {
  const result = toFault(error, constraints);
  assert.ok(result instanceof Fault, String(result));
  return result;
}

describe('mapping of database errors to faults', () => {
  const cases: [string, keyof typeof FAULTS][] = [
    ['22021', 'INVALID_REQUEST'],
    ['22P05', 'INVALID_REQUEST'],
    ['22P02', 'INVALID_REQUEST'],
    ['22003', 'INVALID_REQUEST'],
    ['22008', 'INVALID_REQUEST'],
    ['54000', 'INVALID_REQUEST'],
    ['54001', 'INVALID_REQUEST'],
    ['23505', 'ALREADY_EXISTS'],
    ['23503', 'INVALID_REQUEST'],
    ['40001', 'OVERLOADED'],
    ['40P01', 'OVERLOADED'],
    ['55P03', 'OVERLOADED'],
    ['57014', 'OVERLOADED'],
    ['53200', 'OVERLOADED'],
    ['53100', 'DATABASE_UNAVAILABLE'],
    ['53300', 'DATABASE_UNAVAILABLE'],
    ['57P01', 'DATABASE_UNAVAILABLE'],
    ['57P02', 'DATABASE_UNAVAILABLE'],
    ['57P03', 'DATABASE_UNAVAILABLE'],
    ['08000', 'DATABASE_UNAVAILABLE'],
    ['08006', 'DATABASE_UNAVAILABLE'],
    ['08P01', 'DATABASE_UNAVAILABLE'],
    ['25006', 'DATABASE_UNAVAILABLE'],
  ];
  for (const [code, expected] of cases) {
    test(`${code} is ${expected}`, () => {
      const result = fault(fromServer(code));
      assert.equal(result.code, expected);
      assert.equal(result.headers['Retry-After'], FAULTS[expected].status === 503 ? '1' : undefined);
    });
  }

  test('no created error contains a value, including causes', () => {
    for (const code of [...cases.map(([known]) => known), '23514', '22012', 'XX000', 'P0001']) {
      const result = toFault(
        fromServer(code, { constraint: 'users_email', table: 'users', routine: '_bt_check_unique' }),
      );
      for (let error = result; error instanceof Error; error = error.cause) {
        const shown = `${error.message} ${error.stack} ${JSON.stringify(error)} ${JSON.stringify(Object.entries(error))}`;
        assert.ok(!shown.includes(SECRET), `${code}: ${shown}`);
      }
    }
  });

  test('a named constraint determines code and details', () => {
    const constraints: Constraints = new Map([
      ['users_email', { code: 'ALREADY_EXISTS', field: 'email' }],
      ['objects_pkey', { code: 'ALREADY_EXISTS' }],
    ]);
    const email = fault(fromServer('23505', { constraint: 'users_email' }), constraints);
    assert.deepEqual([email.code, email.details], ['ALREADY_EXISTS', { field: 'email' }]);
    const id = fault(fromServer('23505', { constraint: 'objects_pkey' }), constraints);
    assert.deepEqual([id.code, id.reason, id.details], ['ALREADY_EXISTS', 'ANYTHING_TAKEN', []]);
    const unknown = fault(fromServer('23505', { constraint: 'constructor' }), constraints);
    assert.deepEqual([unknown.code, unknown.details], ['ALREADY_EXISTS', []]);
  });

  test('an unexpected error remains an internal error with its cause', () => {
    const wrong = Object.assign(new Error('column "colour" does not exist'), { code: '42703', severity: 'ERROR' });
    const result = toFault(wrong);
    assert.ok(result instanceof DatabaseFailure);
    assert.equal(result.sqlstate, '42703');
    assert.match(result.message, /column "colour" does not exist/);
    const check = toFault(fromServer('23514', { constraint: 'objects_state_check', table: 'objects' }));
    assert.ok(check instanceof DatabaseFailure);
    assert.match(check.message, /23514, constraint objects_state_check, table objects/);
  });

  test('errors that are not from the database are unchanged', () => {
    const known = new Fault('NOT_FOUND', 'Nothing here.');
    const file = fromSocket('ENOENT', 'open');
    for (const error of [known, file, new TypeError('x'), 'text', undefined, null, { code: '23505' }]) {
      assert.equal(toFault(error), error);
      assert.equal(isRetryable(error), false);
      assert.equal(isConnectionLost(error), false);
    }
  });
});

describe('lost connections', () => {
  const lost: [string, Error][] = [
    ['refused', fromSocket('ECONNREFUSED', 'connect')],
    ['reset', fromSocket('ECONNRESET', 'read')],
    ['broken pipe', fromSocket('EPIPE', 'write')],
    ['written to a closed socket', Object.assign(new Error('x'), { code: 'ERR_STREAM_DESTROYED' })],
    ['no socket', fromSocket('ENOENT', 'connect')],
    ['terminated', new Error('Connection terminated unexpectedly')],
    ['terminated while connecting', new Error('Connection terminated due to connection timeout')],
    ['unusable', new Error('Client has encountered a connection error and is not queryable')],
    ['pool ended', new Error('Cannot use a pool after calling end on the pool')],
    ['all addresses', Object.assign(new AggregateError([], ''), { code: 'ECONNREFUSED' })],
  ];
  for (const [name, error] of lost) {
    test(name, () => {
      assert.equal(isConnectionLost(error), true);
      assert.equal(isRetryable(error), false);
      const result = fault(error);
      assert.equal(result.code, 'DATABASE_UNAVAILABLE');
      assert.equal(result.headers['Retry-After'], '1');
    });
  }

  test('a busy pool is overload, not a lost database', () => {
    const error = new Error('timeout exceeded when trying to connect');
    assert.equal(isConnectionLost(error), false);
    assert.equal(fault(error).code, 'OVERLOADED');
  });
});

test('only serialization conflicts are retried', () => {
  for (const code of ['40001', '40P01', '55P03']) assert.equal(isRetryable(fromServer(code)), true, code);
  for (const code of ['23505', '57014', '57P01', '08006', '22P02'])
    assert.equal(isRetryable(fromServer(code)), false, code);
});
