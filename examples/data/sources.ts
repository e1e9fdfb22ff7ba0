/** The source data sets and their conversion to import files with one column per mapped value. */
import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip, gunzipSync } from 'node:zlib';
import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';

export type Row = Readonly<Record<string, string>>;

/** The folder of the data sets: the given one, or else `shared/data` beside the repository; undefined if it does not exist. */
export function dataFolder(repository: string, named: string | undefined): string | undefined {
  const folder = named ?? path.join(repository, '..', 'shared', 'data');
  return existsSync(path.join(folder, 'servicenow-incidents', 'incident_events.csv.gz')) ? folder : undefined;
}

export async function readTable(file: string): Promise<Row[]> {
  const bytes = await readFile(file);
  const text = file.endsWith('.gz') ? gunzipSync(bytes) : bytes;
  return parse(text, { columns: true, bom: true }) as Row[];
}

/** Unpacks, streaming. @returns the file */
export async function unpack(source: string, target: string): Promise<string> {
  await pipeline(createReadStream(source), createGunzip(), createWriteStream(target));
  return target;
}

async function writeTable(file: string, rows: readonly Record<string, string>[]): Promise<string> {
  await writeFile(file, stringify(rows as Record<string, string>[], { header: true }));
  return file;
}

/** A code as the configuration writes it: small letters, digits and hyphens. */
export function codeOf(prefix: string, name: string): string {
  const plain = name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
  return `${prefix}-${plain}`.replace(/-+$/, '').slice(0, 63);
}

function mostFrequent(names: readonly string[]): string | undefined {
  const counts = Map.groupBy(names, (name) => name);
  return [...counts].sort((a, b) => b[1].length - a[1].length)[0]?.[0];
}

export interface Volvo {
  units: string;
  groups: string;
  users: string;
  /** How many of each. */
  counts: { units: number; groups: number; users: number };
  /** Each owner with the code of the main team, and of the unit that the team is of. */
  members: { login: string; team: string; unit: string }[];
}

/** Org lines with their divisions as units, support teams as groups, owners as users. */
export async function volvoFiles(data: string, folder: string): Promise<Volvo> {
  const teams = await readTable(path.join(data, 'volvo-it-incidents', 'support_teams.csv'));
  const owners = await readTable(path.join(data, 'volvo-it-incidents', 'owners.csv'));
  const lines = [...new Set(teams.map((team) => team['org_line'] ?? ''))].filter((name) => name !== '').sort();
  const byDivision = Map.groupBy(teams, (team) => team['function_division'] ?? '');
  const divisions = [...byDivision].filter(([name]) => name !== '').sort(([a], [b]) => (a < b ? -1 : 1));
  const units = [
    ...lines.map((name) => ({ id: `line ${name}`, code: codeOf('line', name), name, parent: '' })),
    // A division belongs to the line of most of its teams; the row of that line comes first.
    ...divisions.map(([name, own]) => ({
      id: `division ${name}`,
      code: codeOf('div', name),
      name,
      parent: codeOf('line', mostFrequent(own.map((team) => team['org_line'] ?? '')) ?? ''),
    })),
  ];
  const groups = teams.map((team) => {
    const name = team['team'] ?? '';
    return { id: name, code: codeOf('team', name), name: `Support team ${name}` };
  });
  const users = owners.map((owner) => {
    const login = owner['owner'] ?? '';
    return { id: login, login, name: login, email: `${login}@volvo.example` };
  });
  const byTeam = new Map(teams.map((team) => [team['team'] ?? '', team]));
  const members = owners.flatMap((owner) => {
    const team = byTeam.get(owner['main_team'] ?? '');
    if (team === undefined) return [];
    const division = team['function_division'] ?? '';
    const unit = division === '' ? codeOf('line', team['org_line'] ?? '') : codeOf('div', division);
    return [{ login: owner['owner'] ?? '', team: codeOf('team', team['team'] ?? ''), unit }];
  });
  return {
    members,
    units: await writeTable(path.join(folder, 'units.csv'), units),
    groups: await writeTable(path.join(folder, 'groups.csv'), groups),
    users: await writeTable(path.join(folder, 'users.csv'), users),
    counts: { units: units.length, groups: groups.length, users: users.length },
  };
}

/** The groups that incidents are assigned to. */
export async function assignmentGroups(data: string, folder: string): Promise<{ file: string; names: string[] }> {
  const rows = await readTable(path.join(data, 'servicenow-incidents', 'assignment_groups.csv'));
  const names = rows.map((row) => row['group'] ?? '').filter((name) => name !== '' && name !== '?');
  const groups = names.map((name) => ({ id: name, code: codeOf('sn', name), name }));
  return { file: await writeTable(path.join(folder, 'assignment-groups.csv'), groups), names };
}
