/** A request from the catalogue: a record that is created for a requester, with the requester's rights. */
import { isActive } from '../../contract/state.ts';
import { Fault, faultAt, invalidValues } from '../../lib/fault.ts';
import { problemAt } from '../../lib/problem.ts';
import type { Actor, ReadContext, WriteContext } from '../../platform/unit-of-work/context.ts';
import { contextOnBehalfOf } from '../../platform/unit-of-work/unit-context.ts';
import { checkValue, type RecordType, setValue } from '../metadata/index.ts';
import { createFor, findVisible, liveAnswer, type ObjectAnswer } from '../objects/index.ts';
import { findAvailable } from './queries.ts';
import type { CatalogItem } from './registry.ts';

export interface RequestInput {
  itemId: string;
  requesterId: string;
  values: Record<string, unknown>;
  assetId?: string;
}

/** The fields of a created request that the portal shows. */
export type RequestAnswer = Pick<ObjectAnswer, 'id' | 'number' | 'title' | 'state' | 'workflowState' | 'createdAt'>;

/**
 * Makes a request (docs/spec/catalogue-and-knowledge.md#catalogue-requests). The requester's rights decide about the
 * availability of the item, the creation, the values and the asset. The caller is the actor in the history. A request for
 * another user needs the right `catalog.impersonate`.
 *
 * @throws Fault RIGHT_MISSING, INVALID_REQUEST (no such requester), NOT_FOUND, INVALID_VALUES, FIELD_READ_ONLY
 */
export async function requestItem(
  ctx: WriteContext,
  input: RequestInput,
  actorOf: (userId: string) => Promise<Actor | undefined>,
): Promise<RequestAnswer> {
  const isOwn = input.requesterId === ctx.actor.userId;
  if (!isOwn) ctx.actor.require('catalog.impersonate');
  const requester = isOwn ? ctx.actor : await actorOf(input.requesterId);
  if (requester === undefined) throw unknownRequester();
  const onBehalf = contextOnBehalfOf(ctx, requester);
  const available = findAvailable(onBehalf, input.itemId, requester);
  if (available === undefined) {
    throw new Fault('NOT_FOUND', 'There is no such item in the catalogue, or it is not available to the requester.');
  }
  const { item, type } = available;
  const asset = await findAsset(onBehalf, item, type, input.assetId);
  const object = await createFor(ctx, onBehalf, type, {
    values: input.values,
    configured: {
      form: new Map(item.form.map(({ code, required }) => [code, required])),
      writes: (given) => configuredWrites(onBehalf, item, type, input.requesterId, asset, given),
      data: {
        onBehalfOf: { id: input.requesterId, displayName: requester.displayName },
        catalogItem: { id: item.id, code: item.code },
      },
    },
  });
  return liveAnswer(ctx, onBehalf, object, ({ id, number, title, state, workflowState, createdAt }) => {
    return { id, number, title, state, workflowState, createdAt };
  });
}

/** The same error for a missing user and for an archived one. */
function unknownRequester(): Fault {
  return faultAt('INVALID_REQUEST', '/requesterId', 'NO_REQUESTER');
}

/**
 * Checks that the requester can read the asset and that the field accepts it.
 *
 * @throws Fault INVALID_VALUES
 */
async function findAsset(
  onBehalf: ReadContext,
  item: CatalogItem,
  type: RecordType,
  assetId: string | undefined,
): Promise<string | undefined> {
  if (assetId === undefined) return undefined;
  const field = item.assetField === undefined ? undefined : type.newest.fields.get(item.assetField);
  if (field === undefined) throw invalidValues([problemAt('/assetId', 'NO_ASSET_FIELD')]);
  const asset = await findVisible(onBehalf, assetId);
  const { types } = field.constraints;
  const fits = isActive(asset?.row) && (types === undefined || types.includes(asset.type.code));
  if (!fits) throw invalidValues([problemAt('/assetId', 'NO_ASSET')]);
  return assetId;
}

/** The values that the item sets: its `set`, overridden by the requester and the asset. */
function configuredWrites(
  onBehalf: ReadContext,
  item: CatalogItem,
  type: RecordType,
  requesterId: string,
  asset: string | undefined,
  given: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const writes: Record<string, unknown> = {};
  for (const [code, configured] of Object.entries(item.set)) {
    const field = type.newest.fields.get(code);
    if (field !== undefined) writes[code] = setValue(onBehalf, field, configured);
  }
  const put = (code: string | undefined, id: string | undefined, path: string): void => {
    const field = code === undefined || id === undefined ? undefined : type.newest.fields.get(code);
    if (code === undefined || field === undefined) return;
    // Added to other values that the requester gave in the form; does not replace them.
    const others = field.multiple && Array.isArray(given[code]) ? (given[code] as unknown[]) : [];
    const value = field.multiple ? [...others.filter((one) => one !== id), id] : id;
    const checked = checkValue(field, value, path);
    if (!checked.ok) throw invalidValues(checked.problems.map((problem) => ({ ...problem, path })));
    writes[code] = checked.stored;
  };
  put(item.requesterField, requesterId, '/requesterId');
  put(item.assetField, asset, '/assetId');
  return writes;
}
