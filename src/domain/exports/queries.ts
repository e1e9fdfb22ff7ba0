/**
 * Streams records as a file, page by page. Only one page is in memory, and each page is read with the current rights of the
 * caller. An error after the first byte closes the connection, so that an incomplete file cannot look complete.
 */
import { Yielder } from '../../lib/yielding.ts';
import { Readable } from 'node:stream';
import type { Static } from 'typebox';
import { Reply } from '../../contract/operation.ts';
import { Fault, faultAt, isFault } from '../../lib/fault.ts';
import { type FieldResolver, parseCondition, type TypedCondition } from '../../lib/filter.ts';
import type { Runner } from '../../platform/unit-of-work/binding.ts';
import type { Caller } from '../../platform/unit-of-work/context.ts';
import { fieldResolver, findType, type RecordType, registry } from '../metadata/index.ts';
import { type PageMark, readPage, type Wanted, type WordMatch } from '../objects/index.ts';
import type * as contract from './contract.ts';
import { csvFormat, type FileFormat, FileWriter, JSON_FORMAT } from './rules.ts';

const PAGE = 500;
const DEFAULT_LIMIT = 1000;

export type FreshCaller = (caller: Caller) => Promise<Caller>;

type ExportBody = Static<(typeof contract.exportRecords)['body']>;

/** @throws Fault INVALID_REQUEST if the caller may read no record of the type, with the same error as for a missing type */
function requireType({ actor, config }: Caller, idOrCode: string): RecordType {
  const type = findType(registry({ config }), idOrCode);
  if (type?.active === true && actor.mayEver(type.id, 'read')) return type;
  throw faultAt('INVALID_REQUEST', '/typeDefinitionId', 'NO_TYPE');
}

/** Resolves filterable fields that the caller may read. All others give the same error as unknown fields. */
function filterable({ actor }: Caller, type: RecordType): FieldResolver {
  const resolve = fieldResolver(type);
  return (code) => {
    const field = type.newest.fields.get(code);
    if (field === undefined || (field.search.filter && actor.fieldAccess(type.id).canRead(code))) return resolve(code);
    return undefined;
  };
}

/** @throws Fault INVALID_FILTER */
function conditionOf(caller: Caller, type: RecordType, { query }: ExportBody): TypedCondition | null {
  if (query === undefined || typeof query === 'string' || query.filter === undefined) return null;
  const resolve = filterable(caller, type);
  return parseCondition(query.filter, { resolve, variables: 'refused', base: '/query/filter' });
}

function wordsOf({ query }: ExportBody, matches: WordMatch): Wanted['words'] {
  const q = typeof query === 'string' ? query : query?.q;
  return q === undefined || q.trim() === '' ? null : { matches, q };
}

/**
 * Exports records of a type (docs/spec/import-export-bulk.md#exports).
 *
 * @throws Fault RIGHT_MISSING, INVALID_REQUEST, INVALID_FILTER, FILTER_TOO_EXPENSIVE
 */
export async function exportRecords(
  runner: Runner,
  body: ExportBody,
  fresh: FreshCaller,
  matches: WordMatch,
): Promise<Reply> {
  const { caller } = runner;
  caller.actor.require('export.execute');
  const type = requireType(caller, body.typeDefinitionId);
  const condition = conditionOf(caller, type, body);
  const access = caller.actor.fieldAccess(type.id);
  const readable = [...type.newest.fields.values()].filter(({ code }) => access.canRead(code));
  const format = body.format === 'CSV' ? csvFormat(readable) : JSON_FORMAT;
  const wanted = { type, condition, words: wordsOf(body, matches) };
  const file = records(runner, wanted, body.limit ?? DEFAULT_LIMIT, format, fresh);
  const name = `${type.code}.${format.extension}`;
  return new Reply(Readable.from(file, { objectMode: false }), {
    'Content-Type': format.mediaType,
    'Content-Disposition': `attachment; filename="${name}"; filename*=UTF-8''${name}`,
  });
}

/** Number of characters that are sent in one chunk. */
const SENT = 65_536;

async function* records(
  runner: Runner,
  wanted: Wanted,
  limit: number,
  format: FileFormat,
  fresh: FreshCaller,
): AsyncGenerator<Buffer> {
  const writer = new FileWriter(format);
  const yielder = new Yielder();
  let text = format.head;
  let left = limit;
  let after: PageMark | undefined;
  do {
    // Word matches use pages of a constant size, so that offsets are consistent.
    const page = await readWanted(runner, wanted, after, wanted.words === null ? Math.min(PAGE, left) : PAGE, fresh);
    for (const object of page.objects.slice(0, left)) {
      const part = writer.add(object);
      if (part === undefined) {
        yield Buffer.from(text + format.tail);
        return;
      }
      text += part;
      await yielder.next();
      if (text.length < SENT) continue;
      yield Buffer.from(text);
      text = '';
    }
    left -= page.objects.length;
    after = page.end;
    if (after !== undefined && left > 0) {
      yield Buffer.from(text);
      text = '';
    }
  } while (after !== undefined && left > 0);
  yield Buffer.from(text + format.tail);
}

async function readWanted(
  { work, caller }: Runner,
  wanted: Wanted,
  after: PageMark | undefined,
  limit: number,
  fresh: FreshCaller,
): Promise<Awaited<ReturnType<typeof readPage>>> {
  try {
    return await work.read(after === undefined ? caller : await fresh(caller), (ctx) => {
      ctx.actor.require('export.execute');
      return readPage(ctx, wanted, after, limit);
    });
  } catch (error) {
    if (wanted.condition === null || !isFault(error, 'OVERLOADED')) throw error;
    throw new Fault('FILTER_TOO_EXPENSIVE', 'No index covers this filter. Add a condition on an indexed field.');
  }
}
