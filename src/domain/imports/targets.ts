/** Selects the import target for a definition. */
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import type { ImportDefinition } from './definition.ts';
import type { Target } from './target.ts';
import { identityTarget } from './target-identity.ts';
import { objectTarget, typeOf } from './target-object.ts';

/** @throws Fault NOT_FOUND if the record type of the definition does not exist any more */
export function targetOf(ctx: Pick<ReadContext, 'config'>, definition: ImportDefinition): Target {
  const { targetKind } = definition;
  return targetKind === 'object'
    ? objectTarget(definition, typeOf(ctx, definition))
    : identityTarget(targetKind, definition);
}
