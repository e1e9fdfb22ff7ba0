/** The places of a bundle that depend on values of fields: none is missing, whatever is added to the schemas. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SECTIONS } from '../../test/support/bundle-fixture.ts';
import { FIELD_PLACES } from '../../test/support/field-places.ts';
import { Codes } from './codes.ts';
import { alwaysReads, fieldUses, newUses } from './field-places.ts';
import type { NamingSchema } from './naming.ts';

/** What a property names that is no place: other items, parts of the same item, and fields in lists that only name them. */
const NAMES_NO_VALUES: ReadonlySet<string> = new Set(['item', 'node', 'transition']);
/** Properties that name or describe their own item, wherever they are. */
const OWN_NAMES = /(^|[.\]])(code|was(\[\])?|name|description)$/;

/**
 * Every other property that depends on no value of a field. Read the specification before you add one
 * (docs/spec/configuration.md#conditions-on-hidden-fields): a property that says for which records something happens, or what is
 * written into them, needs an annotation (`names`) and an entry in `FIELD_PLACES` instead. The workflow of a type is judged by the
 * places in it.
 */
const NO_PLACES: readonly string[] = `
settings.defaultLocale settings.timezone settings.attachmentMaxBytes settings.searchExactTotal
users.displayName users.email users.locale users.timezone users.orgUnit users.employeeId users.externalId
orgUnits.parent orgUnits.manager orgUnits.location
workflows.states[].category workflows.states[].reopenWithin workflows.transitions[].from workflows.transitions[].fields[].required
types.plural types.category types.assignable types.numbering.prefix types.numbering.digits
types.fields[].dataType types.fields[].required types.fields[].readOnly types.fields[].multiple
types.fields[].constraints.minLength types.fields[].constraints.maxLength types.fields[].constraints.pattern
types.fields[].constraints.min types.fields[].constraints.max types.fields[].constraints.scale
types.fields[].constraints.maxItems types.fields[].search.text types.fields[].search.filter types.fields[].search.facet
types.workflow types.layout types.layout.sections[].columns
roles.rights[] roles.interface roles.records[].type roles.records[].actions[] roles.records[].fields.read roles.records[].fields.write
roles.records[].transitions roles.memberships.groups roles.memberships.orgUnits
calendars.timezone calendars.week.mon[] calendars.week.tue[] calendars.week.wed[] calendars.week.thu[] calendars.week.fri[]
calendars.week.sat[] calendars.week.sun[] calendars.exceptions[].date calendars.exceptions[].hours[]
slaPolicies.targets[].duration slaPolicies.warnAt[]
relationDefinitions.inverseName relationDefinitions.cardinality relationDefinitions.acyclic relationDefinitions.duplicate
relationDefinitions.active
services.audience.everyone
catalogs.active catalogs.categories[].parent catalogs.items[].service catalogs.items[].form[].required
catalogs.items[].audience.everyone
knowledgeBases.visibility knowledgeBases.locales[] knowledgeBases.sections[].parent
signingSecrets synonyms[]
webhooks.endpoint webhooks.eventTypes[] webhooks.retryPolicy.maxAttempts webhooks.retryPolicy.baseDelayMs webhooks.enabled
integrations.type integrations.enabled integrations.config.command integrations.config.mapping[].source
integrations.config.visibility
importDefinitions.targetKind importDefinitions.format importDefinitions.mode importDefinitions.sourceCode
importDefinitions.resolver.externalIdField importDefinitions.mapping[].source importDefinitions.mapping[].precedence
importDefinitions.rules importDefinitions.notifications
dashboards.tiles[].kind dashboards.tiles[].title dashboards.tiles[].query.measures[] dashboards.tiles[].query.period.of
dashboards.tiles[].query.period.from dashboards.tiles[].query.period.to dashboards.tiles[].query.period.lastDays
dashboards.tiles[].query.timeZone dashboards.tiles[].width
macros.comment.visibility
rules.enabled rules.order rules.on[] rules.after.duration rules.once rules.do[].comment.visibility rules.onError
mailboxes.address mailboxes.authServer mailboxes.unknownSender mailboxes.imap.host mailboxes.imap.port mailboxes.imap.tls
mailboxes.imap.user mailboxes.enabled
`
  .trim()
  .split(/\s+/);

/** Every leaf of the schema: its path, and what it names. */
function* leaves(schema: NamingSchema, path: string): Generator<[path: string, names: NamingSchema['names']]> {
  const { names, anyOf = [], items, properties = {} } = schema;
  const members = Object.entries(properties);
  if (names !== undefined || (anyOf.length === 0 && items === undefined && members.length === 0)) {
    yield [path, names];
    return;
  }
  for (const branch of anyOf) yield* leaves(branch, path);
  if (items !== undefined) yield* leaves(items, `${path}[]`);
  for (const [name, member] of members) yield* leaves(member, `${path}.${name}`);
}

const all = SECTIONS.flatMap(({ key, schema }) => [...leaves(schema as NamingSchema, key)]);

describe('places that depend on values of fields', () => {
  it('are every property that names fields or takes conditions, and each of them is tried', () => {
    const places = all.flatMap(([path, names]) => {
      const none =
        names === undefined || NAMES_NO_VALUES.has(names.kind) || (names.kind === 'field' && names.listed === true);
      return none ? [] : [path];
    });
    assert.deepEqual([...new Set(places)].sort(), Object.keys(FIELD_PLACES).sort());
  });

  it('are not among the other properties, which are listed by hand', () => {
    const others = all.flatMap(([path, names]) => (names === undefined && !OWN_NAMES.test(path) ? [path] : []));
    const known = new Set([...NO_PLACES, ...Object.keys(FIELD_PLACES)]);
    assert.deepEqual(
      [...new Set(others)].filter((path) => !known.has(path)),
      [],
      'annotate these properties with `names`, or add them to NO_PLACES if they depend on no value of a field',
    );
    assert.deepEqual(
      NO_PLACES.filter((path) => !others.includes(path)),
      [],
    );
  });

  it('are the same if only their position in a list changes', () => {
    const codes = new Codes();
    codes.add('types', 'case', [{ fields: [{ code: 'cost', dataType: 'integer' }], title: 'cost' }]);
    const section = SECTIONS.find(({ key }) => key === 'slaPolicies');
    assert.ok(section);
    const policy = (targets: unknown[]) => ({ code: 'p', type: 'case', targets });
    const cost = (value: number) => ({ when: { field: 'cost', operator: 'equals', value }, duration: 'PT1H' });
    const uses = (targets: unknown[]) => fieldUses(section, 'p', policy(targets), codes);
    const found = uses([{ duration: 'PT1H' }, cost(1), { when: { field: 'title', operator: 'is-empty' } }]);
    assert.deepEqual(
      found.map(({ path, type, field }) => [path, type, field]),
      [
        ['slaPolicies.p.targets.1.when', 'case', 'cost'],
        ['slaPolicies.p.targets.2.when', 'case', 'cost'],
      ],
    );
    assert.deepEqual(newUses(uses([cost(1), cost(2)]), uses([cost(2), cost(1)])), []);
    assert.equal(newUses(uses([cost(1)]), uses([cost(1), cost(1)])).length, 1);
    assert.equal(newUses(uses([cost(1)]), uses([cost(3)])).length, 1);
  });

  it('need grants without row condition that give read and the field', () => {
    const grant = (actions: string[], read: string[] | '*', more: object = {}) => ({
      type: 'case',
      actions,
      fields: { read },
      ...more,
    });
    const reads = (...records: ReturnType<typeof grant>[]): boolean => alwaysReads([{ records }], 'case', 'cost');
    assert.equal(reads(grant(['read'], ['cost'])), true);
    assert.equal(reads(grant(['read'], '*', { type: '*' })), true);
    assert.equal(reads(grant(['read'], ['cost'], { where: {} })), false);
    assert.equal(reads(grant(['update'], ['cost'])), false);
    assert.equal(reads(grant(['read'], ['title'])), false);
    assert.equal(reads(grant(['read'], ['cost'], { type: 'other' })), false);
    assert.equal(reads(grant(['read'], ['title']), grant(['read'], ['cost'], { where: {} })), false);
  });
});
