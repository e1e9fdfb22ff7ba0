/**
 * Runs the acceptance suite against any service: `npm run acceptance -- --url https://… --key dk_…`. README.md lists the
 * requirements. Exits 0 if no test failed, 1 if one failed, 2 on wrong usage.
 */
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { run } from 'node:test';
import { parseArgs } from 'node:util';

const USAGE = `usage: npm run acceptance -- --url ADDRESS --key KEY [--only PATTERN]
  --url ADDRESS   where the service is, without /api/v1
  --key KEY       an API key with the scope admin:manage, of a user with every right of the starter's administrator
  --only PATTERN  tests whose name matches`;

interface Found {
  passed: string[];
  failed: string[];
  leftOut: string[];
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function reach(url: string, key: string): Promise<string | undefined> {
  try {
    const described = await fetch(`${url}/api/v1/openapi.json`);
    if (!described.ok) return `${url} answers ${described.status} where the description of the interface should be.`;
    const headers = { authorization: `Bearer ${key}` };
    const answer = await fetch(`${url}/api/admin/v1/config/users`, { headers });
    if (answer.status === 401) return 'The key is not accepted.';
    if (!answer.ok) return `The key may not administer: ${answer.status} ${await answer.text()}`;
    const users = ((await answer.json()) as { data: { code: string }[] }).data.map(({ code }) => code);
    // The users of the suite exist only on a service that it ran on before.
    if (users.length > 50 && !users.includes('chief'))
      return `${url} has ${users.length} people: give the suite a service of its own.`;
    return undefined;
  } catch (error) {
    return `${url} cannot be reached: ${(error as Error).message}`;
  }
}

async function tried(pattern: RegExp | undefined): Promise<Found> {
  const files = readdirSync(import.meta.dirname)
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => path.join(import.meta.dirname, name));
  const found: Found = { passed: [], failed: [], leftOut: [] };
  // One after the other: the files configure the same service.
  const stream = run({
    files,
    concurrency: 1,
    timeout: 300_000,
    ...(pattern === undefined ? {} : { testNamePatterns: [pattern] }),
  });
  stream.on('test:pass', (data) => {
    if (data.nesting === 0 || data.details.type === 'suite') return;
    found.passed.push(data.name);
  });
  stream.on('test:diagnostic', ({ message }) => {
    const reason = /^left out: (.*)$/s.exec(message)?.[1];
    const last = found.passed.pop();
    if (reason === undefined || last === undefined) {
      if (last !== undefined) found.passed.push(last);
      return;
    }
    found.leftOut.push(`${last} (${reason})`);
  });
  stream.on('test:fail', (data) => {
    if (data.details.type === 'suite' || data.nesting === 0) return;
    const { cause } = data.details.error as { cause?: unknown };
    found.failed.push(
      `${data.name}\n      ${String((cause as Error | undefined)?.message ?? data.details.error.message).slice(0, 800)}`,
    );
    say(`failed: ${data.name}`);
  });
  for await (const _ of stream);
  return found;
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: { url: { type: 'string' }, key: { type: 'string' }, only: { type: 'string' }, help: { type: 'boolean' } },
  });
  const { url, key, only } = values;
  if (values.help === true || url === undefined || key === undefined) {
    say(USAGE);
    return values.help === true ? 0 : 2;
  }
  const problem = await reach(url, key);
  if (problem !== undefined) {
    process.stderr.write(`${problem}\n`);
    return 1;
  }
  process.env['DOCKET_ACCEPTANCE_URL'] = url;
  process.env['DOCKET_ACCEPTANCE_KEY'] = key;
  const { passed, failed, leftOut } = await tried(only === undefined ? undefined : new RegExp(only));
  if (leftOut.length > 0) say(`\nLeft out:\n${leftOut.map((line) => `  - ${line}`).join('\n')}`);
  if (failed.length > 0) say(`\nFailed:\n${failed.map((line) => `  - ${line}`).join('\n')}`);
  say(`\n${passed.length} hold, ${failed.length} fail, ${leftOut.length} were left out.`);
  return failed.length === 0 && passed.length > 0 ? 0 : 1;
}

process.exitCode = await main().catch((error: Error) => {
  process.stderr.write(`${error.message}\n${USAGE}\n`);
  return 2;
});
