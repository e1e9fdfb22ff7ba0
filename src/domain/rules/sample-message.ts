/** The message that a rule posts, filled with sample values, to try the webhook that sends it. */
import { isActive } from '../../contract/state.ts';
import { faultAt } from '../../lib/fault.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { named, registry } from '../metadata/index.ts';
import { messageText, requireOwnWebhook } from './actions.ts';
import type { CompiledAction, CompiledRule } from './registry.ts';

type Post = Extract<CompiledAction, { kind: 'post' }>;

/**
 * The first message of the rule to the webhook. The rule may be disabled. Without a rule, the first one in the order of the codes
 * that posts to the webhook; undefined if there is none or the caller may not read rules.
 *
 * @param samples values of placeholders; a field without one shows its name
 * @throws Fault RIGHT_MISSING, INVALID_REQUEST if the rule does not post to the webhook
 */
export function sampleMessageOf(
  ctx: ReadContext,
  {
    webhookId,
    rule: asked,
    samples,
  }: { webhookId: string; rule: string | undefined; samples: ReadonlyMap<string, string> },
): { rule: string; body: object } | undefined {
  if (asked === undefined && !ctx.actor.has('config.manage')) return undefined;
  ctx.actor.require('config.manage');
  const posting = ctx.config
    .items('rules')
    .filter((item) => isActive(item) && (asked === undefined || item.code === asked))
    .flatMap(({ code, compiled }) => {
      const rule = compiled as CompiledRule;
      const post = rule.do.find(
        (action): action is Post => action.kind === 'post' && action.connectionId === webhookId,
      );
      return post === undefined ? [] : [{ code, rule, post }];
    })
    .toSorted((a, b) => (a.code < b.code ? -1 : 1));
  const [first] = posting;
  if (first === undefined) {
    if (asked === undefined) return undefined;
    throw faultAt('INVALID_REQUEST', '/rule', 'RULE_POSTS_ELSEWHERE');
  }
  const { code, rule, post } = first;
  requireOwnWebhook(ctx, webhookId, rule.runAsId);
  const types = rule.typeIds.flatMap((id) => registry(ctx).byId.get(id) ?? []);
  const fieldName = (name: string): string | undefined => {
    const field = types.map(({ newest }) => newest.fields.get(name)).find((one) => one !== undefined);
    return field === undefined ? undefined : named(ctx, field.name);
  };
  const body = JSON.parse(messageText(post.body, (name) => samples.get(name) ?? fieldName(name) ?? name));
  return { rule: code, body };
}
