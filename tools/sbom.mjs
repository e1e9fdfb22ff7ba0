/**
 * Writes `sbom.json`, the software bill of materials of the package in CycloneDX form. `npm sbom --omit dev` leaves out what
 * both the service and a development tool need; so everything is listed and what is for development alone is taken out.
 * Plain JavaScript, since the Node that runs npm may know no TypeScript.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const args = ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only', '--workspaces=false'];
const { status, stdout, stderr } = spawnSync('npm', args, { encoding: 'utf8', maxBuffer: 1e9 });
if (status !== 0) throw new Error(stderr);
const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
const needed = new Set();
for (const [place, { name, version, dev }] of Object.entries(packages)) {
  const last = place.lastIndexOf('node_modules/');
  if (last !== -1 && dev !== true) needed.add(`${name ?? place.slice(last + 'node_modules/'.length)}@${version}`);
}
const bill = JSON.parse(stdout);
const own = bill.metadata.component['bom-ref'];
const kept = (ref) => ref === own || needed.has(ref.split('|', 1)[0]);
bill.components = bill.components.filter((component) => kept(component['bom-ref']));
bill.dependencies = bill.dependencies
  .filter(({ ref }) => kept(ref))
  .map((entry) => ({ ...entry, dependsOn: (entry.dependsOn ?? []).filter(kept) }));
writeFileSync('sbom.json', `${JSON.stringify(bill, null, 2)}\n`);
process.stdout.write(`${path.resolve('sbom.json')}: ${bill.components.length} components\n`);
