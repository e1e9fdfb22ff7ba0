/** Pure decisions on articles: what a version may contain, and when it may be published. No database, no clock. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { Fault, faultAt, type FaultDetail, invalidValues } from '../../lib/fault.ts';
import { problemAt } from '../../lib/problem.ts';
import { checkValue, type FieldDefinition, imageHandles, type InlineImage, type RichNode } from '../metadata/index.ts';
import { type GivenText, type ReadText, textPath } from './text.ts';

/** Content of a version as given in a request. Absent members are not changed; null clears. */
export interface ContentInput extends GivenText {
  title?: string;
  summary?: string | null;
  tags?: readonly string[] | null;
  responsibleId?: string | null;
}

/** The same in its stored form. */
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

/**
 * Requires that the text is given in at most one form, and with `must` in exactly one.
 *
 * @throws Fault INVALID_REQUEST
 */
export function requireOneBody(input: ContentInput, must: boolean): void {
  const given = [input.body, input.bodyDocument].filter((body) => body !== undefined).length;
  if (given === 1 || (given === 0 && !must)) return;
  throw faultAt('INVALID_REQUEST', '/body', 'ONE_BODY');
}

/**
 * Returns the stored form of the given content, with images extracted from the text.
 *
 * @param text the parsed text; undefined if none is given
 * @param known SHA-256 of the article's images. A handle alone must not give access to other content.
 * @param problems problems of the rest of the request, reported together
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
    if (title === null || title.trim() === '') problems.push(problemAt('/title', 'REQUIRED'));
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
    else if (text.document === null) problems.push(problemAt(path, 'REQUIRED'));
    else {
      images.push(...text.images);
      const brought = new Set(images.map((image) => image.sha256));
      if (imageHandles(text.document).some((sha256) => !brought.has(sha256) && !known.has(sha256))) {
        problems.push(problemAt(path, 'UNKNOWN_ARTICLE_IMAGE'));
      }
      content.document = text.document;
      content.body = text.body;
    }
  }
  if (problems.length > 0) {
    throw invalidValues(problems);
  }
  return { content, images };
}

/** @throws Fault NOT_A_DRAFT */
export function requireDraft(version: { state: string }): void {
  if (version.state === 'DRAFT') return;
  throw new Fault(
    'NOT_A_DRAFT',
    'The version is not a draft and cannot be changed. Create a new version of the article.',
  );
}

/** @throws Fault AUDIENCE_MISSING */
export function requireAudience(version: { audiences: readonly unknown[] }): void {
  if (version.audiences.length > 0) return;
  throw new Fault('AUDIENCE_MISSING', 'The version has no audience. Set one in the administration API.');
}

/** The opaque token of the article state in one locale. Any change of the draft or of the active version changes it. */
export function articleStateToken(locale: string, versions: readonly { stateToken: string }[]): string {
  const said = [locale, ...versions.map(({ stateToken }) => stateToken).sort()].join('\n');
  return createHash('sha256').update(said).digest('base64url');
}

/** Compares in constant time. @throws Fault VERSION_TOKEN_STALE */
export function requireToken(expected: string, given: string): void {
  const hash = (text: string): Buffer => createHash('sha256').update(text).digest();
  if (timingSafeEqual(hash(expected), hash(given))) return;
  throw new Fault('VERSION_TOKEN_STALE', 'The article was changed after its token was read. Read it again.');
}
