/**
 * The current codes of things that were renamed, for values outside the configuration that name them: queues and dashboards of
 * users. They keep what their owner wrote and are read with the current codes. That is not ambiguous, because a code that a
 * rename freed is never used again.
 */
import type { ReadContext } from '../platform/unit-of-work/context.ts';
import type { DerivedView } from '../platform/unit-of-work/snapshot.ts';
import { Codes } from './codes.ts';
import { mapNames } from './names.ts';
import type { NamingSchema } from './naming.ts';

/** The codes of any time. */
const formerCodesView: DerivedView<Codes> = {
  name: 'configuration.former-codes',
  build: ({ items, typeVersions }) => {
    const codes = new Codes({ former: true });
    const versions = Map.groupBy(typeVersions, ({ typeId }) => typeId);
    for (const { id, section, code, formerCodes = [], compiled } of items) {
      const forms = section === 'types' ? (versions.get(id) ?? []).map((version) => version.compiled) : [compiled];
      codes.add(section, code, forms, { former: formerCodes, id });
    }
    return codes;
  },
};

/** Values of a record of the type, with the codes of any time, under the current codes of its fields and options. */
export function withCurrentFields(
  ctx: Pick<ReadContext, 'config'>,
  typeId: string,
  values: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const codes = ctx.config.get(formerCodesView);
  const list = `types/${codes.typeName(typeId)}/fields`;
  const entries = Object.entries(values).map(([code, value]): [string, unknown] => {
    const field = codes.at(`${list}/${code}`);
    if (field?.dataType !== 'enum') return [field?.code ?? code, value];
    const option = (one: unknown): unknown =>
      typeof one === 'string' ? codes.code(`${list}/${code}/options`, one) : one;
    return [field.code, Array.isArray(value) ? value.map(option) : option(value)];
  });
  return Object.fromEntries(entries);
}

/** The value with the current codes of everything that it names. @param schema says what its codes mean */
export function withCurrentCodes<T>(ctx: Pick<ReadContext, 'config'>, schema: NamingSchema, value: T): T {
  const codes = ctx.config.get(formerCodesView);
  return codes.isEmpty ? value : (mapNames({ key: '', schema }, '', value, codes) as T);
}
