/** Images in rich text. A caller may read an image if they may read a text that contains it, now or in the history. */
import type { Reply } from '../../contract/operation.ts';
import { Fault } from '../../lib/fault.ts';
import type { RequestFacts, Runner } from '../../platform/unit-of-work/binding.ts';
import { type ContentParts as Parts, serveImage } from '../../platform/blobs/serve.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { imageHandles, type RichNode } from '../metadata/index.ts';
import { requireVisible } from './load.ts';
import type { VisibleObject } from './record.ts';
import { imagesIn } from './rules-images.ts';
import { findImage, type ImageRow, listEventsNaming } from './store-images.ts';

export type ContentParts = Parts<Runner['caller']>;

/** @throws Fault NOT_FOUND */
async function requireShown(ctx: ReadContext, objectId: string, sha256: string): Promise<ImageRow> {
  const object = await requireVisible(ctx, objectId);
  const image = await findImage(ctx, objectId, sha256);
  if (image !== undefined && (isShown(object, sha256) || (await wasShown(ctx, object, sha256)))) return image;
  throw new Fault('NOT_FOUND', 'There is no such image, or you may not see it.');
}

function isShown({ version, row, right }: VisibleObject, sha256: string): boolean {
  return imagesIn(version, row.values, (code) => right.reads(code)).has(sha256);
}

/** Only rich text and decision reports count: in any other value, the caller could have written the handle themselves. */
async function wasShown(ctx: ReadContext, object: VisibleObject, sha256: string): Promise<boolean> {
  const { right, type, row } = object;
  if (!right.can('history')) return false;
  const shows = (text: unknown): boolean => text !== null && imageHandles(text as RichNode).includes(sha256);
  const isRichText = (code: string): boolean =>
    [...type.versions.values()].every(({ fields }) => !fields.has(code) || fields.get(code)?.dataType === 'rich-text');
  for (const { changes, data } of await listEventsNaming(ctx, row.id, sha256)) {
    if (shows(data?.decisionReport ?? null)) return true;
    for (const [code, texts] of Object.entries(changes ?? {})) {
      if (right.reads(code) && isRichText(code) && texts.some(shows)) return true;
    }
  }
  return false;
}

/**
 * Reads an image of a record. As with attachments, rights are checked before storage is read and again afterwards.
 *
 * @throws Fault NOT_FOUND
 */
export async function readImage(
  runner: Runner,
  parts: ContentParts,
  { objectId, sha256 }: { objectId: string; sha256: string },
  request: RequestFacts,
): Promise<Reply> {
  return await serveImage(runner, parts, (ctx) => requireShown(ctx, objectId, sha256), request);
}
