/** Writes the pages that are generated from the source: `npm run docs`. A test compares them with the committed ones. */
import { writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { program } from '../src/cli.ts';
import { sectionsFor } from '../src/cli/service.ts';
import { bundleSchemaText } from '../src/configuration/bundle-schema.ts';
import { readSettings, REMOTE_TABLE } from '../src/settings.ts';
import { type SettingRow, SETTINGS_TABLE } from '../src/settings-table.ts';
import Type from 'typebox';
import { EVENT_DATA } from '../src/contract/event-data.ts';
import { EVENTS, type EventType } from '../src/contract/events.ts';
import { exampleOf, FAULT_GUIDES } from '../src/contract/fault-guides.ts';
import { FAULTS, type FaultCode } from '../src/lib/fault-codes.ts';

function errorsPage(): string {
  const rows = Object.entries(FAULTS).map(
    ([code, { status, meaning }]) => `| ${status} | [\`${code}\`](#${code.toLowerCase()}) | ${meaning} |`,
  );
  const sections = (Object.keys(FAULTS) as FaultCode[]).map((code) => {
    const { cause, act } = FAULT_GUIDES[code];
    return `## ${code}\n\n${cause}\n\n**What to do.** ${act}\n\n\`\`\`json\n${exampleOf(code)}\n\`\`\`\n`;
  });
  return `# Error codes

Every error has the form \`{"error": {"code", "message", "details"}, "meta": {"correlationId", "apiVersion"}}\`. Programs act on
\`code\`. \`message\` is a text for people. \`details\` is a list of \`{path, code, message}\`, where \`path\` is a JSON Pointer into
the body, \`query.NAME\` or \`header.NAME\`; some codes have an object instead. \`X-Correlation-Id\` identifies the request in the
log.

Do not resolve a 409 by sending the new revision unseen: read the record again and decide. 429 and 503 carry \`Retry-After\`. The
header \`Link\` of an error leads to the page of its code at \`/docs/errors/CODE\`.

| status | code | meaning |
|---|---|---|
${rows.join('\n')}

${sections.join('\n')}`;
}

function settingsTable(table: readonly SettingRow[]): string {
  const rows = table.map(
    (row) => `| \`${row.name}\` | ${row.default === '' ? '–' : `\`${row.default}\``} | ${row.meaning} |`,
  );
  return `| variable | default | meaning |\n|---|---|---|\n${rows.join('\n')}\n`;
}

function settingsPage(): string {
  return `# Settings

Settings are environment variables. They are checked when a command starts, and all invalid ones are reported at once. Variables that look like misspelt settings are remarked on and ignored.

${settingsTable(SETTINGS_TABLE)}
## A service elsewhere

[Commands with \`--url\`](cli.md#a-service-elsewhere) read these and no other setting. \`NODE_EXTRA_CA_CERTS\` names the
certificates of a private authority.

${settingsTable(REMOTE_TABLE)}`;
}

function eventsPage(): string {
  const rows = (Object.keys(EVENTS) as EventType[]).map((type) => {
    const { history, webhook, audit, summary, data } = EVENTS[type];
    const shown = [history ? 'history' : '', webhook ? 'webhooks' : '', audit ? 'audit log' : ''].filter(Boolean);
    const required: readonly string[] = Type.Object(EVENT_DATA[data]).required ?? [];
    const names = Object.keys(EVENT_DATA[data]).map(
      (name) => `\`${name}\`${required.includes(name) ? '' : ' or absent'}`,
    );
    return `| \`${type}\` | ${summary} | ${shown.join(', ')} | ${names.length === 0 ? '–' : names.join(', ')} |`;
  });
  return `# Events

Every change writes an event in its own transaction. Records show theirs in their history, [webhooks](webhooks.md) deliver them,
and the audit log lists changes of configuration, rights and identity. \`data\` has the properties named here and may have more.

| type | meaning | shown in | data |
|---|---|---|---|
${rows.join('\n')}
`;
}

/** `## docket keys create` with its usage and options, for the command and all below it. */
function commandSections(command: Command, name: string): string[] {
  const help = command.createHelp();
  const below = help.visibleCommands(command).filter((one) => one.name() !== 'help');
  const usage = [
    name,
    ...command.registeredArguments.map((one) => (one.required ? `<${one.name()}>` : `[${one.name()}]`)),
  ];
  const own = `## ${name}\n\n${command.description()}\n\n\`\`\`text\n${usage.join(' ')}\n\`\`\`\n${optionsTable(command)}`;
  const runs = below.length === 0 || command.registeredArguments.length > 0;
  return [...(runs ? [own] : []), ...below.flatMap((one) => commandSections(one, `${name} ${one.name()}`))];
}

function optionsTable(command: Command): string {
  const help = command.createHelp();
  const options = help
    .visibleOptions(command)
    .filter(({ long }) => long !== '--help' && long !== '--version')
    .map((option) => `| \`${option.flags}\` | ${help.optionDescription(option)} |`);
  return options.length === 0 ? '' : `\n| option | meaning |\n|---|---|\n${options.join('\n')}\n`;
}

function commandsPage(): string {
  const docket = program({ inherited: {}, settings: () => readSettings({}) });
  return `# Command line

Commands print text by default and JSON with \`--json\`; \`docket COMMAND --help\` prints the options below. [Settings](settings.md)
are environment variables. The command line acts as the operator of the database and holds every right, except on a service
elsewhere.

| exit code | meaning |
|---|---|
| 0 | success |
| 1 | refused or failed; the reason is on standard error |
| 2 | wrong usage |

## A service elsewhere

\`docket --url URL\`, or the variable \`DOCKET_URL\`, runs \`plan\`, \`apply\`, \`export\`, \`types\`, \`import\`, \`config\`, \`why\`,
\`webhooks test\` and \`webhooks listen\` on a service over HTTP. No settings of a service are needed. The key needs the scope
\`admin:manage\` and no other (\`webhooks listen\`: \`objects:read\` is enough); its owner needs the rights of the changes. It is taken from \`DOCKET_KEY\` or from a file. A call is repeated for 30 s while the service does not
answer, an apply with the same \`Idempotency-Key\`. \`import\` sends files up to 10 MiB. A redirect is not followed.
${optionsTable(docket)}
${commandSections(docket, 'docket').join('\n')}`;
}

/** Generated pages by their path in the repository. */
export const PAGES: Readonly<Record<string, () => string>> = {
  'docs/reference/bundle.schema.json': () => bundleSchemaText(sectionsFor({ webhookAllowPrivate: false })),
  'docs/reference/cli.md': commandsPage,
  'docs/reference/errors.md': errorsPage,
  'docs/reference/events.md': eventsPage,
  'docs/reference/settings.md': settingsPage,
};

if (import.meta.main) {
  for (const [file, write] of Object.entries(PAGES)) await writeFile(new URL(`../${file}`, import.meta.url), write());
}
