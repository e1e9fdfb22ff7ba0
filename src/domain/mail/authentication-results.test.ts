import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type DmarcVerdict, dmarcVerdict } from './authentication-results.ts';
import { Headers } from './headers.ts';
import { processorMs } from '../../../test/support/processor-time.ts';

const SERVER = 'mx.example.org';
const PASS = 'Authentication-Results: mx.example.org; dmarc=pass (p=reject dis=none) header.from=example.com';

function verdict(lines: string[], from = 'anna@example.com', server: string | null = SERVER): DmarcVerdict {
  return dmarcVerdict(Headers.ofLines(lines), server, from);
}

describe('DMARC in Authentication-Results', () => {
  const CASES: readonly [string, DmarcVerdict, string[], string?][] = [
    ['a pass for the domain', 'pass', [PASS]],
    [
      'a pass among other methods',
      'pass',
      [
        'Authentication-Results: MX.example.org 1; spf=pass smtp.mailfrom=b@x.org; dkim=pass (2048-bit key; x) header.d=x.org header.i="@x.org"; dmarc=pass header.from=Example.COM',
      ],
    ],
    [
      'a folded field',
      'pass',
      ['Authentication-Results: mx.example.org;\r\n\tdmarc=pass\r\n\theader.from=example.com'],
    ],
    [
      'blanks around signs',
      'pass',
      ['Authentication-Results: mx.example.org ; dmarc = pass header.from = example.com'],
    ],
    [
      'a version of the method',
      'pass',
      ['Authentication-Results: mx.example.org; dmarc/1=pass header.from=example.com'],
    ],
    [
      'one field for each method',
      'pass',
      ['Authentication-Results: mx.example.org; dkim=fail header.d=x.org', PASS, 'Received: by mx.example.org'],
    ],
    ['no field', 'none', ['Received: by mx.example.org']],
    ['no result', 'none', ['Authentication-Results: mx.example.org; none']],
    ['no DMARC result', 'none', ['Authentication-Results: mx.example.org; spf=pass smtp.mailfrom=a@example.com']],
    ['another server', 'none', ['Authentication-Results: evil.example.net; dmarc=pass header.from=example.com']],
    ['a server with a similar name', 'none', [PASS.replace('mx.example.org', 'mx.example.org.evil.net')]],
    ['another domain', 'fail', [PASS.replace('=example.com', '=evil.net')]],
    ['a subdomain', 'fail', [PASS.replace('=example.com', '=a.example.com')]],
    ['no domain', 'fail', ['Authentication-Results: mx.example.org; dmarc=pass']],
    ['a failure', 'fail', [PASS.replace('=pass', '=fail')]],
    ['a temporary error', 'fail', [PASS.replace('=pass', '=temperror')]],
    [
      'a result in a comment',
      'fail',
      [
        'Authentication-Results: mx.example.org; dmarc=fail (dmarc=pass header.from=example.com) header.from=example.com',
      ],
    ],
    [
      'a result in a nested comment',
      'fail',
      ['Authentication-Results: mx.example.org; dmarc=fail (a (b) \\) ; dmarc=pass) header.from=example.com'],
    ],
    [
      'a result in a quoted property',
      'none',
      ['Authentication-Results: mx.example.org; spf=fail smtp.mailfrom="x; dmarc=pass header.from=example.com"'],
    ],
    ['an open comment', 'fail', ['Authentication-Results: mx.example.org; dmarc=pass (header.from=example.com']],
    ['an open quoted string', 'fail', ['Authentication-Results: mx.example.org; dmarc=pass header.from="example.com']],
    [
      'a forged field below that of the server',
      'fail',
      [PASS.replace('=pass', '=fail'), 'Received: by mx.example.org', PASS],
    ],
    ['a forged field beside that of the server', 'fail', [PASS.replace('=pass', '=fail'), PASS]],
    [
      'a forged field that the server did not judge',
      'none',
      ['Authentication-Results: mx.example.org; spf=none', 'Received: by mx.example.org', PASS],
    ],
  ];
  for (const [name, expected, lines, from] of CASES) {
    it(`is ${expected} for ${name}`, () => assert.equal(verdict(lines, from), expected));
  }

  it('is none for a mailbox that trusts no server', () => assert.equal(verdict([PASS], undefined, null), 'none'));

  it('is read in linear time', () => {
    const took = processorMs(() => {
      verdict([`Authentication-Results: mx.example.org; ${'('.repeat(10_000)}${'"\\'.repeat(4000)}`]);
      verdict([`Authentication-Results: mx.example.org; ${'a=b c=d;'.repeat(2400)}`]);
    });
    assert.ok(took < 1000, `took ${took} ms`);
  });
});
