/**
 * Writes the pages that follow from the source: docs/reference/errors.md from the catalogue of faults,
 * docs/reference/settings.md from the table of settings, docs/reference/events.md from the declarations of events. A test compares them with what is committed.
 */
import { writeFile } from 'node:fs/promises';
import { SETTINGS_TABLE } from '../src/settings.ts';
import { EVENTS, type EventType } from '../src/contract/events.ts';
import { exampleOf, FAULT_GUIDES } from '../src/contract/fault-guides.ts';
import { FAULTS, type FaultCode } from '../src/lib/fault-codes.ts';

export function errorsPage(): string {
  const rows = Object.entries(FAULTS).map(
    ([code, { status, meaning }]) => `| ${status} | [\`${code}\`](#${code.toLowerCase()}) | ${meaning} |`,
  );
  const sections = (Object.keys(FAULTS) as FaultCode[]).map((code) => {
    const { cause, act } = FAULT_GUIDES[code];
    return `## ${code}\n\n${cause}\n\n**What to do.** ${act}\n\n\`\`\`json\n${exampleOf(code)}\n\`\`\`\n`;
  });
  return `# Errors

Every error has one shape: \`{"error": {"code", "message", "details"}, "meta": {"correlationId", "apiVersion"}}\`. \`message\` is a
sentence that says what to do; \`details\` is a list of \`{path, code, message}\`, where \`path\` is a JSON Pointer into the body or
\`query.NAME\`, \`header.NAME\`, or an object where the code says so. The header \`X-Correlation-Id\` finds the request in the log.

A 409 must not be resolved by silently sending the new revision: read the record again and decide. 429 and 503 carry
\`Retry-After\`. The answer's header \`Link\` leads to the page of its code, which a running service has at \`/docs/errors/CODE\`.

| status | code | meaning |
|---|---|---|
${rows.join('\n')}

${sections.join('\n')}`;
}

export function settingsPage(): string {
  const rows = SETTINGS_TABLE.map(
    (row) => `| \`${row.name}\` | ${row.default === '' ? '–' : `\`${row.default}\``} | ${row.meaning} |`,
  );
  return `# Settings

All from the environment, validated when a command starts; wrong ones are listed all at once.

| variable | default | meaning |
|---|---|---|
${rows.join('\n')}
`;
}

export function eventsPage(): string {
  const rows = (Object.keys(EVENTS) as EventType[]).map((type) => {
    const { history, webhook, audit, summary, data } = EVENTS[type];
    const shown = [history ? 'history' : '', webhook ? 'webhooks' : '', audit ? 'audit log' : ''].filter(Boolean);
    const names = Object.keys(data).map((name) => `\`${name}\``);
    return `| \`${type}\` | ${summary} | ${shown.join(', ')} | ${names.length === 0 ? '–' : names.join(', ')} |`;
  });
  return `# Events

Every change writes an event in its own transaction. Records show theirs in their history, [webhooks](webhooks.md) deliver them,
and the audit log lists changes of configuration, rights and identity. \`data\` always has the properties named here and may have
more.

| type | meaning | shown in | data |
|---|---|---|---|
${rows.join('\n')}
`;
}

if (import.meta.main) {
  await writeFile(new URL('../docs/reference/errors.md', import.meta.url), errorsPage());
  await writeFile(new URL('../docs/reference/settings.md', import.meta.url), settingsPage());
  await writeFile(new URL('../docs/reference/events.md', import.meta.url), eventsPage());
}
