/** Updates the search index in the transaction of a change, so the next request finds acknowledged changes. */
import { isArchived } from '../../../contract/state.ts';
import { Yielder } from '../../../lib/yielding.ts';
import { type EventType, isAbout } from '../../../contract/events.ts';
import type { Analysis } from '../../../lib/words.ts';
import type { Follower, PlannedEvent, WriteContext } from '../../../platform/unit-of-work/context.ts';
import { plannedComment } from '../../comments/index.ts';
import { type ObjectRow, plannedRow } from '../../objects/index.ts';
import type { ArticleSource } from '../store-texts.ts';
import { type IndexProfile, profileView } from './profile.ts';
import { type Analyst, articleRow, projectRecord, projectText } from './projection.ts';
import { dropArticle, dropComment, putArticle, putComment, putNumbered, putRecord, pendingWords } from './store.ts';

/** Events that can change the words of a record. */
const RECORD_EVENTS: ReadonlySet<EventType> = new Set(['ObjectCreated', 'ObjectUpdated', 'ObjectTransitioned']);

/** Whether the change affects an indexed field or the type version. */
function touchesWords(profile: IndexProfile, event: PlannedEvent): boolean {
  if (event.type === 'ObjectCreated' || event.data?.migratedToVersion !== undefined) return true;
  const changed = event.changes ?? {};
  return profile.fields.some(({ field }) => Object.hasOwn(changed, field.code));
}

export function searchFollower(analysis: Analysis, articles: ArticleSource): Follower {
  const analyst = (ctx: WriteContext): Analyst => ({ analysis, caller: ctx.actor.userId });

  const putRow = async (ctx: WriteContext, row: ObjectRow, profile: IndexProfile, created: boolean): Promise<void> => {
    const projected = await projectRecord(analyst(ctx), profile, row.values, row.number);
    ctx.plan(created ? putNumbered : putRecord, { id: row.id, profile_id: profile.id, ...projected });
    ctx.plan(pendingWords, { id: row.id });
  };

  const followRecords = async (ctx: WriteContext, events: readonly PlannedEvent[]): Promise<void> => {
    const profiles = ctx.config.get(profileView);
    const created = new Set<string>();
    const changed = new Map<string, { row: ObjectRow; profile: IndexProfile }>();
    for (const event of events) {
      const id = event.objectId;
      if (id === undefined || !RECORD_EVENTS.has(event.type)) continue;
      const row = plannedRow(ctx, id);
      if (row === undefined) throw new Error(`${event.type} of a record that nothing was planned for`);
      const profile = profiles.of(row.typeId, row.typeVersion);
      if (!touchesWords(profile, event)) continue;
      if (event.type === 'ObjectCreated') created.add(id);
      changed.set(id, { row, profile });
    }
    const yielder = new Yielder();
    for (const [id, { row, profile }] of changed) {
      await yielder.next();
      await putRow(ctx, row, profile, created.has(id));
    }
  };

  const followComments = async (ctx: WriteContext, events: readonly PlannedEvent[]): Promise<void> => {
    const ids = new Set<string>();
    for (const { type, data } of events) {
      if (isAbout(type, 'comment') && typeof data?.commentId === 'string') ids.add(data.commentId);
    }
    for (const id of ids) {
      const row = plannedComment(ctx, id);
      if (row === undefined) throw new Error('an event of a comment that nothing was planned for');
      if (isArchived(row)) {
        ctx.plan(dropComment, { id });
        continue;
      }
      const projected = await projectText(analyst(ctx), [{ text: row.body, zone: 'C' }]);
      ctx.plan(putComment, {
        id,
        object_id: row.objectId,
        visibility: row.visibility,
        at: row.updatedAt,
        ...projected,
      });
      ctx.plan(pendingWords, { id });
    }
  };

  const followArticles = async (ctx: WriteContext, events: readonly PlannedEvent[]): Promise<void> => {
    const ids = new Set<string>();
    for (const { type, data } of events) {
      if (!isAbout(type, 'article')) continue;
      // Publishing also replaces the previously active version.
      for (const id of [data?.versionId, data?.replacedVersionId]) if (typeof id === 'string') ids.add(id);
    }
    for (const id of ids) {
      const text = await articles.activeText(ctx, id);
      if (text === undefined) {
        ctx.plan(dropArticle, { id });
        continue;
      }
      ctx.plan(putArticle, await articleRow(analyst(ctx), id, text));
      ctx.plan(pendingWords, { id });
    }
  };

  return {
    name: 'search',
    follow: async (ctx, events) => {
      await followRecords(ctx, events);
      await followComments(ctx, events);
      await followArticles(ctx, events);
    },
  };
}
