/** The four kinds of things that an import fills, and how. */
import { Fault } from '../../lib/fault.ts';
import type { ReadContext } from '../../mechanisms/context.ts';
import type { ImportDefinition } from './definition.ts';
import type { Target } from './target.ts';
import { objectTarget, typeOf } from './target-object.ts';

export function targetOf(ctx: Pick<ReadContext, 'config'>, definition: ImportDefinition): Target {
  switch (definition.targetKind) {
    case 'object':
      return objectTarget(definition, typeOf(ctx, definition));
    default:
      throw new Fault('NOT_FOUND', 'There is no such target.');
  }
}
