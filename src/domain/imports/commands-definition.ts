/** Creates import definitions through the API (docs/spec/import-export-bulk.md#import-definitions). */
import type { Static } from 'typebox';
import { Fault, type FaultDetail } from '../../lib/fault.ts';
import { pointer } from '../../lib/json.ts';
import type { WriteContext } from '../../platform/unit-of-work/context.ts';
import { findType, type RecordType, registry } from '../metadata/index.ts';
import type * as contract from './contract.ts';
import type { ImportDefinition } from './definition.ts';
import { definitionAnswer } from './queries.ts';

/** Adds an item to a section of the configuration like `apply` of a bundle; injected by `app.ts`. */
export type AddItem = (ctx: WriteContext, item: unknown) => Promise<{ id: string; definition: unknown }>;

type DefinitionBody = Static<(typeof contract.createDefinition)['body']>;

/**
 * Creates an import definition. Types and fields that the caller may neither read nor write count as missing.
 *
 * @throws Fault RIGHT_MISSING, INVALID_REQUEST, ALREADY_EXISTS
 */
export async function createDefinition(
  ctx: WriteContext,
  body: DefinitionBody,
  add: AddItem,
): Promise<ReturnType<typeof definitionAnswer>> {
  ctx.actor.require('import.manage');
  ctx.markAuthorized();
  const { targetTypeId, ...item } = body;
  const type = targetTypeId === undefined ? undefined : findType(registry(ctx), targetTypeId);
  const problems = unknownNames(ctx, body, type);
  if (problems.length > 0) throw new Fault('INVALID_REQUEST', problems[0]?.message ?? '', problems);
  const typed = type === undefined ? item : { ...item, targetType: type.code };
  const added = await add(ctx, typed).catch((error: unknown) => {
    throw asCalled(error);
  });
  return definitionAnswer(ctx, added.id, added.definition as ImportDefinition);
}

function knows(ctx: WriteContext, type: RecordType | undefined): type is RecordType {
  const { actor } = ctx;
  if (type?.active !== true) return false;
  return (['read', 'create', 'update'] as const).some((action) => actor.mayEver(type.id, action));
}

/** Errors for unknown names. Hidden names give the same messages as missing ones. */
function unknownNames(ctx: WriteContext, body: DefinitionBody, type: RecordType | undefined): FaultDetail[] {
  const { targetKind, targetTypeId, mapping } = body;
  if (targetTypeId !== undefined && !knows(ctx, type)) {
    return [{ path: '/targetTypeId', code: 'UNKNOWN_TYPE', message: 'There is no such record type.' }];
  }
  const problems: FaultDetail[] = [];
  for (const [index, { target, transform = [] }] of mapping.entries()) {
    if (targetKind === 'object' && type !== undefined && !namesField(ctx, type, target)) {
      const message = `The type ${type.code} has no field ${target}.`;
      problems.push({ path: pointer('mapping', index, 'target'), code: 'UNKNOWN_FIELD', message });
    }
    for (const [at, step] of [transform].flat().entries()) {
      const message = unknownLookup(ctx, step);
      if (message === undefined) continue;
      problems.push({ path: pointer('mapping', index, 'transform', at), code: 'INVALID_TRANSFORM', message });
    }
  }
  return problems;
}

function namesField({ actor }: WriteContext, type: RecordType, code: string): boolean {
  return type.newest.fields.has(code) && (actor.mayEverRead(type.id, code) || actor.mayEverWrite(type.id, code));
}

function unknownLookup(ctx: WriteContext, step: string): string | undefined {
  const [, typeCode, fieldCode] = /^lookup:([^.]+)\.([^.]+)$/.exec(step) ?? [];
  if (typeCode === undefined || fieldCode === undefined) return undefined;
  const type = registry(ctx).byCode.get(typeCode);
  if (!knows(ctx, type)) return `There is no record type ${typeCode}.`;
  return namesField(ctx, type, fieldCode) ? undefined : `The type ${typeCode} has no field ${fieldCode}.`;
}

/** The bundle has another name for the property of the type: translate its path. */
function asCalled(error: unknown): unknown {
  if (!(error instanceof Fault) || !Array.isArray(error.details)) return error;
  const details = error.details.map((detail) =>
    detail.path === '/targetType' ? { ...detail, path: '/targetTypeId' } : detail,
  );
  return new Fault(error.code, error.message, details);
}
