/** The impact of a plan on stored records: values that break a new constraint, and states that the workflow loses. */
import type { Impact, ImpactContext, ImpactExample, ImpactSource } from '../../configuration/impact.ts';
import { projected, sampleError, sumErrors } from '../../configuration/store-impact.ts';
import { deepEqualJson } from '../../lib/json.ts';
import { Yielder } from '../../lib/yielding.ts';
import { type FieldDefinition, type RecordType, storedCodes, typeView } from '../metadata/index.ts';
import { convert } from './migrate-type.ts';
import { otherStates, shuffledRecords, valuesOf } from './store-impact.ts';

const BATCH = 1000;
const MAX_EXAMPLES = 10;

function isStricter(was: FieldDefinition | undefined, is: FieldDefinition): boolean {
  if (was === undefined) return is.required;
  const rule = ({ dataType, multiple, required, constraints }: FieldDefinition): unknown => ({
    dataType,
    multiple,
    required,
    constraints,
  });
  return !deepEqualJson(rule(was), rule(is));
}

/**
 * The type with only the fields whose rules change. Which records do not fit tells something about the values, so fields that
 * the caller cannot read on every record are left out if there is a limit.
 */
function narrowed({ limit }: ImpactContext, was: RecordType, is: RecordType): RecordType {
  const before = (field: FieldDefinition): FieldDefinition | undefined =>
    [field.code, ...(field.former ?? [])].flatMap((code) => was.newest.fields.get(code) ?? [])[0];
  const isShown = (old: FieldDefinition | undefined): boolean =>
    limit === null || old === undefined || limit.fieldAccess(was.id).canAlwaysRead(old.code);
  const fields = [...is.newest.fields].filter(
    ([, field]) => isShown(before(field)) && isStricter(before(field), field),
  );
  return { ...is, newest: { ...is.newest, fields: new Map(fields) } };
}

interface Found {
  records: number;
  examples: ImpactExample[];
}

interface Broken {
  /** Field code → the records whose values do not fit. */
  fields: Map<string, Found>;
  /** The largest error of each number of records. */
  errorBound: number | null;
}

async function brokenValues(context: ImpactContext, was: RecordType, is: RecordType): Promise<Broken> {
  const type = narrowed(context, was, is);
  const fields = new Map<string, Found>();
  if (type.newest.fields.size === 0) return { fields, errorBound: 0 };
  const yielder = new Yielder();
  const codes = storedCodes(context.after.config.get(typeView), is.id);
  const { total, ids } = await shuffledRecords(context.after, context, is.id);
  let examined = 0;
  while (examined < ids.length && context.hasTime()) {
    const batch = ids.slice(examined, examined + BATCH);
    for (const { id, number, typeVersion, values, visible } of await valuesOf(context.after, context, is.id, batch)) {
      await yielder.next();
      const version = is.versions.get(typeVersion);
      if (version === undefined) continue;
      for (const { field } of convert(type, { row: { values: codes.decode(values) }, version }).reasons) {
        const one = fields.get(field) ?? { records: 0, examples: [] };
        one.records++;
        if (visible && one.examples.length < MAX_EXAMPLES) one.examples.push({ id, number });
        fields.set(field, one);
      }
    }
    examined += batch.length;
  }
  for (const one of fields.values()) one.records = projected(one.records, total, examined);
  const errorBound = sampleError(total, examined);
  if (errorBound !== 0) context.inexact(errorBound);
  return { fields, errorBound };
}

async function lostStates(context: ImpactContext, was: RecordType, is: RecordType): Promise<Impact['states']> {
  const states = is.newest.workflow?.states;
  const before = was.newest.workflow?.states;
  if (states === undefined || before === undefined || [...before.keys()].every((id) => states.has(id))) return [];
  const known = context.before.config.get(typeView).states;
  const rows = await otherStates(context.after, context, is.id, [...states.keys()]);
  return rows.map(({ stateId, records, examples }) => ({
    type: is.code,
    state: known.get(stateId)?.code ?? stateId,
    records,
    examples,
  }));
}

export const recordsImpact: ImpactSource = async () => async (context) => {
  const constraints: Impact['constraints'] = [];
  const states: Impact['states'] = [];
  const errors: (number | null)[] = [];
  const after = context.after.config.get(typeView);
  for (const was of context.before.config.get(typeView).byId.values()) {
    const is = after.byId.get(was.id);
    if (is === undefined || deepEqualJson(was.newest.definition, is.newest.definition)) {
      if (is !== undefined) states.push(...(await lostStates(context, was, is)));
      continue;
    }
    const { fields, errorBound } = await brokenValues(context, was, is);
    for (const [field, found] of fields) constraints.push({ path: `types.${is.code}.fields.${field}`, ...found });
    // One error for each count; a sample without a broken value is one count of zero.
    errors.push(...(fields.size === 0 ? [errorBound] : [...fields].map(() => errorBound)));
    states.push(...(await lostStates(context, was, is)));
  }
  return { constraints, states, errors: { 'invalid-records': sumErrors(errors) } };
};
