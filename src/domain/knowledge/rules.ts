/** Pure decisions on articles: what a version may hold, and when it may be published. No database, no clock. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { Fault, type FaultDetail } from '../../lib/fault.ts';
import { checkValue, type FieldDefinition, imageHandles, type InlineImage, type RichNode } from '../metadata/door.ts';
import { type GivenText, type ReadText, textPath } from './text.ts';

/** What a caller gives of a version; absent is left alone, null clears. */
export interface ContentInput extends GivenText {
  title?: string;
  summary?: string | null;
  tags?: readonly string[] | null;
  responsibleId?: string | null;
}

/** The same as it is stored. */
export interface Content {
  title?: string;
  summary?: string | null;
  tags?: readonly string[];
  responsibleId?: string | null;
  document?: RichNode;
  body?: string;
}

export interface PlannedContent {
  content: Content;
  images: readonly InlineImage[];
}

function field(dataType: 'string' | 'text' | 'user', more: Partial<FieldDefinition> = {}): FieldDefinition {
  const search = { text: false, filter: false, facet: false };
  return {
    code: 'x',
    name: 'x',
    dataType,
    required: false,
    readOnly: false,
    multiple: false,
    constraints: {},
    search,
    ...more,
  };
}

const TITLE = field('string', { constraints: { maxLength: 300 } });
const SUMMARY = field('text', { constraints: { maxLength: 2000 } });
const TAGS = field('string', { multiple: true, constraints: { maxLength: 100, maxItems: 50 } });
const RESPONSIBLE = field('user');

function required(path: string): FaultDetail {
  return { path, code: 'REQUIRED', message: 'A value is required.' };
}

/**
 * Whether the text is given in at most one form, and in one where it must be.
 *
 * @throws Fault INVALID_REQUEST
 */
export function requireOneBody(input: ContentInput, must: boolean): void {
  const given = [input.body, input.bodyDocument].filter((body) => body !== undefined).length;
  if (given === 1 || (given === 0 && !must)) return;
  const message = 'Give the text either as body (Markdown) or as bodyDocument, not both.';
  throw new Fault('INVALID_REQUEST', message, [{ path: '/body', code: 'EXACTLY_ONE', message }]);
}

/**
 * The stored form of what is given, with images taken out of the text.
 *
 * @param text the text as it was read; undefined where none is given
 * @param known SHA-256 of the images that the article has: a handle alone must not open other content
 * @param problems what is wrong with the rest of the request, to be told together
 * @throws Fault INVALID_VALUES with every problem at once
 */
export function planContent(
  input: ContentInput,
  text: ReadText | undefined,
  known: ReadonlySet<string>,
  problems: FaultDetail[] = [],
): PlannedContent {
  const content: Content = {};
  const images: InlineImage[] = [];
  const check = <T>(
    definition: FieldDefinition,
    value: unknown,
    path: string,
    put: (stored: T | null) => void,
  ): void => {
    if (value === undefined) return;
    const checked = checkValue(definition, value, path);
    if (checked.ok) put(checked.stored as T | null);
    else problems.push(...checked.problems);
  };
  check<string>(TITLE, input.title, '/title', (title) => {
    if (title === null || title.trim() === '') problems.push(required('/title'));
    else content.title = title;
  });
  check<string>(SUMMARY, input.summary, '/summary', (summary) => {
    content.summary = summary;
  });
  check<string[]>(TAGS, input.tags, '/tags', (tags) => {
    content.tags = tags ?? [];
  });
  check<string>(RESPONSIBLE, input.responsibleId, '/responsibleId', (id) => {
    content.responsibleId = id;
  });
  const path = textPath(input);
  if (text !== undefined) {
    if (!text.ok) problems.push(...text.problems);
    else if (text.document === null) problems.push(required(path));
    else {
      images.push(...text.images);
      const brought = new Set(images.map((image) => image.sha256));
      if (imageHandles(text.document).some((sha256) => !brought.has(sha256) && !known.has(sha256))) {
        const message = 'A blob: handle names no image of this article; send the image as a data URL.';
        problems.push({ path, code: 'UNKNOWN_IMAGE', message });
      }
      content.document = text.document;
      content.body = text.body;
    }
  }
  if (problems.length > 0) {
    throw new Fault('INVALID_VALUES', 'Some values are not acceptable; details name each of them.', problems);
  }
  return { content, images };
}

/** @throws Fault NOT_A_DRAFT */
export function requireDraft(version: { state: string }): void {
  if (version.state === 'DRAFT') return;
  throw new Fault('NOT_A_DRAFT', 'The version is no draft and takes no change; make a new version of the article.');
}

/** @throws Fault AUDIENCE_MISSING */
export function requireAudience(version: { audiences: readonly unknown[] }): void {
  if (version.audiences.length > 0) return;
  throw new Fault(
    'AUDIENCE_MISSING',
    'The version is for nobody yet; set its audience in the administration interface.',
  );
}

/** The opaque token of what stands in one locale now: any change of the draft or of the active version makes another. */
export function materialToken(locale: string, versions: readonly { material: string }[]): string {
  const said = [locale, ...versions.map(({ material }) => material).sort()].join('\n');
  return createHash('sha256').update(said).digest('base64url');
}

/** In constant time. @throws Fault VERSION_TOKEN_STALE */
export function requireToken(expected: string, given: string): void {
  const hash = (text: string): Buffer => createHash('sha256').update(text).digest();
  if (timingSafeEqual(hash(expected), hash(given))) return;
  throw new Fault('VERSION_TOKEN_STALE', 'The material was changed since you read its token; look at it again.');
}
