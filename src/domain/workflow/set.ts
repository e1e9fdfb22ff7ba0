/** What `set` of a transition (and of a catalogue item) writes: a stored value, or a variable as it stands now. */
import type { WriteContext } from '../../mechanisms/context.ts';
import type { FieldDefinition } from '../metadata/door.ts';

/** @returns the value in the stored form of the field, null where the field is cleared or the variable is undefined */
export function setValue(ctx: WriteContext, field: FieldDefinition, configured: unknown): unknown {
  if (typeof configured !== 'string' || !configured.startsWith('$')) return configured;
  if (configured.startsWith('$$')) return configured.slice(1);
  const one = variable(ctx, configured, field);
  return one !== null && field.multiple && !Array.isArray(one) ? [one] : one;
}

function variable(ctx: WriteContext, name: string, field: FieldDefinition): unknown {
  const { variables } = ctx.actor;
  if (name === '$me') return ctx.actor.userId;
  if (name === '$myOrgUnit') return variables.orgUnit;
  const moment = /^\$(now|today)(?:([+-])(P.+))?$/.exec(name);
  if (moment === null) return null;
  const [, , sign, duration] = moment;
  let at = Temporal.Instant.from(ctx.now).toZonedDateTimeISO('UTC');
  if (duration !== undefined) at = sign === '-' ? at.subtract(duration) : at.add(duration);
  return field.dataType === 'date'
    ? at.toPlainDate().toString()
    : at.toInstant().toString({ smallestUnit: 'millisecond' });
}
