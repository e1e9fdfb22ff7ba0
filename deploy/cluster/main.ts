/** `node deploy/cluster/main.ts`: starts the cluster on this machine, prints its address, and stops it on Ctrl-C. */
import { Cluster } from './cluster.ts';

const cluster = await Cluster.up((line) => console.log(line));
const made = cluster.docket(['keys', 'create', '--owner', 'admin', '--name', 'first', '--scopes', 'all', '--json']);
console.log(
  `Docket answers at http://127.0.0.1:${cluster.ports.http}; a key: ${(JSON.parse(made) as { key: string }).key}`,
);
console.log(`Logs and data: ${cluster.folder}; Ctrl-C takes everything down.`);
await new Promise<void>((resolve) => {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
});
await cluster.down();
process.exit(0);
