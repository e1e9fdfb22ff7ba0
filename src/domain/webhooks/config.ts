/**
 * The bundle's sections `signingSecrets` and `webhooks` (docs/spec/configuration.md#bundle). A bundle contains names of secrets
 * and never their values, which `docket secrets create` or the console create.
 */
import { connectionNotes, connectionRights, secretUsesIn } from '../../configuration/connections.ts';
import { defineSection } from '../../configuration/define.ts';
import { Code } from '../../contract/schemas.ts';
import type { Change, CompileView, ConfigSection, ConfigView, SectionReport } from '../../configuration/section.ts';
import { problem } from '../../lib/problem.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import type { AddressCheck } from '../../platform/outbound/outbound.ts';
import type { WebhookDefinition } from './rules.ts';
import { checkAddress, compile, type Item, normalise, WebhookItem, write } from './item.ts';
import { listValues } from './store.ts';

export const signingSecretsSection = defineSection<string, { code: string }>({
  key: 'signingSecrets',
  summary: 'Codes of signing secrets. Their values are never in a bundle.',
  right: 'webhook.manage',
  shape: 'plain',
  schema: Code,
  normalise: (code) => ({ code }),
  toBundleItem: ({ code }) => code,
});

/** As in the API, a new or changed endpoint must not resolve to a private address. */
async function verifyAddresses(
  changes: readonly Change[],
  outbound: AddressCheck,
  report: SectionReport,
): Promise<void> {
  const endpointOf = (definition: unknown): string | undefined =>
    (definition as WebhookDefinition | undefined)?.endpoint;
  const moved = changes.filter(
    ({ action, definition, stored }) =>
      action !== 'archive' && endpointOf(definition) !== endpointOf(stored?.definition),
  );
  const refused = await outbound.refusals(moved.flatMap(({ definition }) => endpointOf(definition) ?? []));
  for (const { code, definition } of moved) {
    checkAddress(endpointOf(definition) ?? '', refused, (...problem) => report(code, ...problem));
  }
}

/** A subscription whose secret has no value must be disabled. */
async function verifySecrets(
  ctx: ReadContext,
  changes: readonly Change[],
  view: CompileView,
  report: SectionReport,
): Promise<void> {
  const enabled = changes.filter(
    ({ action, definition }) => action !== 'archive' && (definition as WebhookDefinition).enabled,
  );
  if (enabled.length === 0) return;
  const secretOf = ({ definition }: Change): string =>
    view.id('signingSecrets', (definition as WebhookDefinition).secretRef);
  const valued = new Set((await listValues(ctx, enabled.map(secretOf))).map(({ secretId }) => secretId));
  for (const change of enabled) {
    if (valued.has(secretOf(change))) continue;
    const { secretRef } = change.definition as WebhookDefinition;
    report(change.code, ['enabled'], problem('SECRET_WITHOUT_VALUE', { code: secretRef }));
  }
}

/** A password of a mailbox must not sign: also that of an archived one, which the bundle need not contain. */
function checkPasswords(view: ConfigView, report: SectionReport): void {
  const { passwords } = secretUsesIn(view);
  for (const [code, { secretRef }] of view.active<WebhookDefinition>('webhooks')) {
    if (passwords.has(secretRef)) report(code, ['secretRef'], problem('SECRET_IS_PASSWORD'));
  }
}

/** @param outbound checks the addresses of new and changed endpoints */
export function webhooksSection(outbound: AddressCheck): ConfigSection {
  return defineSection<Item, WebhookDefinition>({
    key: 'webhooks',
    summary: 'Webhooks: deliveries of events to other systems.',
    right: 'webhook.manage',
    schema: WebhookItem,
    rights: connectionRights,
    normalise,
    compile,
    validateAll: checkPasswords,
    verify: async (ctx, changes, view, report) => {
      await verifySecrets(ctx, changes, view, report);
      await verifyAddresses(changes, outbound, report);
    },
    write,
    notes: connectionNotes,
  });
}
