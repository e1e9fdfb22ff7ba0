/**
 * Inline images. Data URLs are moved from a document to the blob store and replaced by handles
 * (docs/spec/records.md#data-types).
 */
import { hash } from 'node:crypto';
import type { FaultDetail } from '../../lib/fault.ts';
import { type ProblemReason, problemAt } from '../../lib/problem.ts';
import { isImageHandle, type RichNode } from './rich-text-schema.ts';

/** Maximum size of one image in bytes. */
export const INLINE_IMAGE_BYTES = 2_097_152;
const MAX_IMAGES = 100;

export type ImageMediaType = 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp';

export interface InlineImage {
  /** Lower-case hexadecimal, as in the handle `blob:<sha256>`. */
  sha256: string;
  mediaType: ImageMediaType;
  bytes: Buffer;
}

export type Extraction =
  | { ok: true; doc: RichNode; images: readonly InlineImage[] }
  | { ok: false; problems: FaultDetail[] };

/** Detects the media type from the first bytes, as browsers do. */
export function sniffImage(bytes: Buffer): ImageMediaType | undefined {
  const starts = (latin1: string, at = 0): boolean => bytes.toString('latin1', at, at + latin1.length) === latin1;
  if (starts('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (starts('\xff\xd8\xff')) return 'image/jpeg';
  if (starts('GIF87a') || starts('GIF89a')) return 'image/gif';
  if (starts('RIFF') && starts('WEBP', 8)) return 'image/webp';
  return undefined;
}

const HEAD = /^data:(image\/(?:png|jpeg|gif|webp));base64,/i;
const LONGEST_URL = Math.ceil(INLINE_IMAGE_BYTES / 3) * 4 + 40;

type ImageReason = Extract<ProblemReason, `IMAGE_${string}`>;

function decode(url: string): InlineImage | ImageReason {
  const head = HEAD.exec(url.slice(0, 40));
  if (head === null) return 'IMAGE_TYPE';
  if (url.length > LONGEST_URL) return 'IMAGE_TOO_LARGE';
  const base64 = url.slice(head[0].length);
  const bytes = Buffer.from(base64, 'base64');
  // `Buffer.from` ignores invalid characters. The input was valid base64 only if it encodes to the same text again.
  if (bytes.length === 0 || bytes.toString('base64') !== base64) return 'IMAGE_BASE64';
  if (bytes.length > INLINE_IMAGE_BYTES) return 'IMAGE_TOO_LARGE';
  const mediaType = sniffImage(bytes);
  if (mediaType !== head[1]?.toLowerCase()) return 'IMAGE_CONTENT';
  return { sha256: hash('sha256', bytes, 'hex'), mediaType: mediaType as ImageMediaType, bytes };
}

/**
 * Replaces each data URL by the handle `blob:<sha256>` and returns the images, each once. The given document is not changed.
 * Expects a document that `checkRichText` has read.
 *
 * @param path JSON Pointer of the document, for problems
 */
export function extractInlineImages(doc: RichNode, path = ''): Extraction {
  const images = new Map<string, InlineImage>();
  const problems: FaultDetail[] = [];
  let count = 0;

  const walk = (node: RichNode, at: string): RichNode => {
    if (node.type === 'image') return image(node, `${at}/attrs/src`);
    if (node.content === undefined) return node;
    let changed = false;
    const content = node.content.map((child, index) => {
      const next = walk(child, `${at}/content/${index}`);
      changed ||= next !== child;
      return next;
    });
    return changed ? { ...node, content } : node;
  };

  const image = (node: RichNode, at: string): RichNode => {
    const src = node.attrs?.src;
    if (++count === MAX_IMAGES + 1) {
      problems.push(problemAt(path, 'TOO_MANY_IMAGES', { max: MAX_IMAGES }));
    }
    if (typeof src !== 'string' || isImageHandle(src) || count > MAX_IMAGES) return node;
    const decoded = decode(src);
    if (typeof decoded === 'string') {
      problems.push(problemAt(at, decoded));
      return node;
    }
    images.set(decoded.sha256, decoded);
    return { ...node, attrs: { ...node.attrs, src: `blob:${decoded.sha256}` } };
  };

  const read = walk(doc, path);
  return problems.length > 0 ? { ok: false, problems } : { ok: true, doc: read, images: [...images.values()] };
}

/**
 * SHA-256 of every image in a stored document. Before storing a document, check that each image is among its extracted images
 * or was in the previous value. A handle alone must not give access to a blob that its writer could not read.
 */
export function imageHandles(doc: RichNode): string[] {
  const found = new Set<string>();
  const walk = (node: RichNode): void => {
    const src = node.attrs?.src;
    if (node.type === 'image' && isImageHandle(src)) found.add(src.slice('blob:'.length));
    node.content?.forEach(walk);
  };
  walk(doc);
  return [...found];
}
