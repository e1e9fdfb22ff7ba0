/**
 * Writes `db/releases/VERSION.docket`: a backup of a service of this version with the starter configuration and some data. Each
 * release brings one, and `test/releases.db.test.ts` upgrades every one of them. `node tools/release-backup.ts`
 */
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { ArchiveWriter } from '../src/platform/backup/archive.ts';
import { dumpService } from '../src/platform/backup/dump.ts';
import { FileBlobs } from '../src/platform/blobs/filesystem.ts';
import { MODULES } from '../src/modules.ts';
import { backupSources, collect } from '../src/platform/module.ts';
import { VERSION } from '../src/cli/command.ts';
import { startTestApp } from '../test/support/app.ts';
import { sealAll } from '../test/support/seal-all.ts';

const file = path.join(import.meta.dirname, '..', 'db', 'releases', `${VERSION}.docket`);
const app = await startTestApp();
try {
  const { key } = await app.createKey({ login: 'admin' });
  const post = async (where: string, body: unknown): Promise<{ id: string }> => {
    const answer = await app.request('POST', `/api/v1${where}`, { key, body, idempotencyKey: crypto.randomUUID() });
    if (answer.status >= 300) throw new Error(`${where}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body.data;
  };
  const ids: string[] = [];
  for (let number = 1; number <= 20; number++) {
    const values = { title: `Printer ${number} is out of paper`, description: 'Tray two is **empty**.' };
    ids.push((await post('/objects', { typeDefinitionId: 'incident', values })).id);
  }
  for (const [index, id] of ids.entries()) {
    await post(`/objects/${id}/comments`, { body: `Ordered paper ${index}.`, visibility: 'public' });
    if (index % 2 === 0)
      await post(`/objects/${id}/comments`, { body: 'Second time this month.', visibility: 'internal' });
    if (index % 5 === 0) {
      const contentBase64 = Buffer.from(`Photo ${index}`).toString('base64');
      await post(`/objects/${id}/attachments`, { filename: `photo-${index}.txt`, contentBase64 });
    }
  }
  await sealAll(app.db);
  await rm(file, { force: true });
  const archive = await ArchiveWriter.create(file);
  const blobs = new FileBlobs(app.blobFolder);
  const options = {
    db: app.db,
    blobs,
    uses: collect(MODULES, 'blobUses'),
    sources: backupSources(MODULES),
    archive,
    onPart: () => {},
  };
  const { rows } = await dumpService({ ...options, allowMissing: false, at: new Date().toISOString() });
  process.stdout.write(`${path.relative('.', file)}: ${rows} rows\n`);
} finally {
  await app.close();
}
