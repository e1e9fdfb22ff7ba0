/** The administration interface to the configuration (configuration, section 6): plan, apply, export and how ids are learnt. */
import Type, { type Static } from 'typebox';
import { defineOperation } from '../contract/operation.ts';
import { closed, Id } from '../contract/schemas.ts';
import { Fault } from '../lib/fault.ts';
import { type BoundOperation, bind } from '../mechanisms/binding.ts';
import type { ConfigSection } from '../mechanisms/config-section.ts';
import type { ReadContext } from '../mechanisms/context.ts';
import { applyBundle, exportBundle, planBundle } from './engine.ts';

const BundleFiles = closed({
  files: Type.Array(
    closed({
      name: Type.String({ minLength: 1, maxLength: 255, pattern: '^[^/\\\\]+\\.ya?ml$' }),
      text: Type.String({ maxLength: 8_000_000 }),
    }),
    { minItems: 1, maxItems: 1000 },
  ),
  prune: Type.Optional(Type.Boolean()),
  pruneIdentity: Type.Optional(Type.Boolean()),
});

const PlannedItems = Type.Array(
  Type.Object(
    {
      section: Type.String(),
      code: Type.String(),
      id: Type.Union([Id, Type.Null()]),
      action: Type.String({ description: 'create, change, leave, archive or restore' }),
    },
    { $id: 'PlannedItem' },
  ),
);

const shared = { access: 'console', right: 'config.manage', tag: 'Configuration' } as const;

const listSection = defineOperation({
  ...shared,
  id: 'config.list',
  method: 'GET',
  path: '/config/{section}',
  unit: 'read',
  status: 200,
  summary: 'List what a section of the configuration holds',
  description: 'How ids are learnt: the items of any section of the bundle.',
  params: closed({ section: Type.String({ minLength: 1, maxLength: 64 }) }),
  answer: Type.Array(
    Type.Object({ id: Id, code: Type.String(), name: Type.Unknown(), state: Type.String() }, { $id: 'ConfigItem' }),
  ),
  faults: ['NOT_FOUND', 'RIGHT_MISSING'],
});

const plan = defineOperation({
  ...shared,
  id: 'config.plan',
  method: 'POST',
  path: '/config/plan',
  unit: 'snapshot',
  status: 200,
  summary: 'Say what applying a bundle would create, change or leave',
  body: BundleFiles,
  answer: PlannedItems,
  faults: ['RIGHT_MISSING'],
});

const apply = defineOperation({
  ...shared,
  id: 'config.apply',
  method: 'POST',
  path: '/config/apply',
  unit: 'write',
  status: 200,
  summary: 'Apply a bundle in one transaction',
  body: BundleFiles,
  answer: PlannedItems,
  faults: ['RIGHT_MISSING'],
  timeoutMs: 300_000,
});

const exported = defineOperation({
  ...shared,
  id: 'config.export',
  method: 'GET',
  path: '/config/export',
  unit: 'snapshot',
  status: 200,
  summary: 'Write the present configuration as a bundle',
  query: closed({ identity: Type.Optional(Type.Boolean({ default: false })) }),
  answer: Type.Object({ files: Type.Array(Type.Object({ name: Type.String(), text: Type.String() })) }),
  faults: ['RIGHT_MISSING'],
});

type Bundle = Static<typeof BundleFiles>;

function options(body: Bundle): { prune: boolean; pruneIdentity: boolean } {
  return { prune: body.prune === true, pruneIdentity: body.pruneIdentity === true };
}

async function list(ctx: ReadContext, sections: readonly ConfigSection[], key: string): Promise<unknown> {
  ctx.actor.require('config.manage');
  const section = sections.find((one) => one.key === key);
  if (section === undefined) {
    throw new Fault('NOT_FOUND', `Sections are: ${sections.map((one) => one.key).join(', ')}.`);
  }
  const items = await section.load(ctx);
  return items.map(({ id, code, state, definition }) => ({
    id,
    code,
    name:
      (definition as { name?: unknown; displayName?: unknown }).name ??
      (definition as { displayName?: unknown }).displayName ??
      code,
    state,
  }));
}

export function bundleRoutes(sections: readonly ConfigSection[]): BoundOperation[] {
  return [
    bind(listSection, (ctx, { params }) => list(ctx, sections, params.section)),
    bind(plan, (ctx, { body }) => {
      ctx.actor.require('config.manage');
      return planBundle(ctx, sections, body.files, options(body));
    }),
    bind(apply, (ctx, { body }) => applyBundle(ctx, sections, body.files, options(body))),
    bind(exported, async (ctx, { query }) => {
      ctx.actor.require('config.manage');
      return { files: await exportBundle(ctx, sections, { identity: query.identity === true }) };
    }),
  ];
}
