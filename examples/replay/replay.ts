/**
 * Repeats the life of one installation in another one: reads the changes feed of the source from the beginning, and makes every
 * change of records, comments, files, relations and states again through the public API of the target. Both have the same
 * configuration and users; the target has no records.
 *
 *   SOURCE_URL=… SOURCE_KEY=… TARGET_URL=… TARGET_KEY=… npm run example:replay
 *
 * README.md says what is equal afterwards and what cannot be.
 */
import { AlreadyExists, Docket, type FeedEvent, NotFound } from '../../client/src/index.ts';

type Values = Record<string, unknown>;

export interface ReplayResult {
  /** Events that were repeated, by kind. */
  repeated: Map<string, number>;
  /** What could not be repeated, one line each. */
  left: string[];
}

/** Kinds that follow from the others, and kinds that are about no record. */
const DERIVED = /^(?:Sla|Article)/;
/** Changes of an event that are no fields. */
const NO_FIELDS = new Set(['state', 'workflowState']);
/** Remarks of a transition: name in the event → name in the form. */
const REMARKS = { reason: '$reason', decisionReport: '$decisionReport' } as const;

export class Replay {
  readonly #source: Docket;
  readonly #target: Docket;
  /** Ids of the source → ids of the target. Records have the same ids. */
  readonly #ids = new Map<string, string>();
  readonly #result: ReplayResult = { repeated: new Map(), left: [] };
  /** Code of a relation definition → its id in the target. */
  readonly #definitions = new Map<string, string>();

  constructor(source: Docket, target: Docket) {
    this.#source = source;
    this.#target = target;
  }

  /** Repeats everything up to now. @throws DocketError if the target refuses a change that the source accepted */
  async run(): Promise<ReplayResult> {
    await this.#match();
    for await (const event of this.#source.feed.each({ wait: 0 })) {
      if (DERIVED.test(event.eventType)) continue;
      if (await this.#repeat(event))
        this.#result.repeated.set(event.eventType, (this.#result.repeated.get(event.eventType) ?? 0) + 1);
    }
    return this.#result;
  }

  /** Users and groups have other ids in the target; logins and codes are the same. */
  async #match(): Promise<void> {
    const pair = (from: readonly (readonly [string, string])[], to: readonly (readonly [string, string])[]): void => {
      const there = new Map(to.map(([name, id]) => [name, id]));
      for (const [name, id] of from) {
        const other = there.get(name);
        if (other !== undefined) this.#ids.set(id, other);
      }
    };
    const users = async (docket: Docket) =>
      (await docket.identity.users()).map(({ login, id }) => [login, id] as const);
    const groups = async (docket: Docket) =>
      (await docket.identity.groups()).map(({ code, id }) => [code, id] as const);
    pair(await users(this.#source), await users(this.#target));
    pair(await groups(this.#source), await groups(this.#target));
    for (const { code, id } of await this.#target.relations.definitions()) this.#definitions.set(code, id);
  }

  /** The value with ids of the target. */
  #translated(value: unknown): unknown {
    if (typeof value === 'string') return this.#ids.get(value) ?? value;
    if (Array.isArray(value)) return value.map((part) => this.#translated(part));
    return value;
  }

  /** What the event set, by field. */
  #values({ changes }: FeedEvent): Values {
    const fields = changes.filter(({ field }) => !NO_FIELDS.has(field));
    return Object.fromEntries(fields.map(({ field, to }) => [field, this.#translated(to)]));
  }

  /** @returns whether the target changed */
  async #repeat(event: FeedEvent): Promise<boolean> {
    const id = event.objectId as string;
    const { objects } = this.#target;
    switch (event.eventType) {
      case 'ObjectCreated':
        await objects.create({ typeDefinitionId: event.typeCode as string, objectId: id, values: this.#values(event) });
        return true;
      case 'ObjectUpdated':
        await this.#set(id, this.#values(event));
        return true;
      case 'ObjectTransitioned':
        await this.#transition(event, id);
        return true;
      case 'ObjectArchived':
        await objects.archive(id, { expectedRevision: (await objects.get(id)).revision });
        return true;
      case 'ObjectRestored':
        await this.#target.admin.objects.restore(id);
        return true;
      case 'CommentAdded':
      case 'CommentUpdated':
        return await this.#comment(event, id);
      case 'CommentArchived': {
        const comment = this.#ids.get(event.data['commentId'] as string);
        const found = (await this.#target.comments.list(id)).find((one) => one.id === comment);
        if (found === undefined) return false;
        await this.#target.comments.archive(found.id, { expectedRevision: found.revision });
        return true;
      }
      case 'AttachmentAdded':
        return await this.#attach(event, id);
      case 'AttachmentArchived': {
        const attachment = this.#ids.get(event.data['attachmentId'] as string);
        const found = (await this.#target.attachments.list(id)).find((one) => one.id === attachment);
        if (found === undefined) return false;
        await this.#target.attachments.archive(found.id, { expectedRevision: found.revision });
        return true;
      }
      case 'RelationAdded':
      case 'RelationArchived':
        return await this.#relate(event, id);
      default:
        this.#result.left.push(`${event.eventType} of ${id}`);
        return false;
    }
  }

  /** Sets the fields whose values differ. */
  async #set(id: string, wanted: Values): Promise<void> {
    const { revision, values } = await this.#target.objects.get(id);
    const differing = Object.entries(wanted).filter(
      ([field, value]) => JSON.stringify(values[field] ?? null) !== JSON.stringify(value),
    );
    if (differing.length === 0) return;
    await this.#target.objects.update(id, { expectedRevision: revision, changes: Object.fromEntries(differing) });
  }

  /** The form takes its fields and remarks. What the workflow itself set, such as the time, is set to the value of the source. */
  async #transition(event: FeedEvent, id: string): Promise<void> {
    const wanted = this.#values(event);
    const { code } = event.data['transition'] as { code: string };
    const { object, state, transitions } = await this.#target.workflow.get(id);
    const transition = transitions.find((one) => one.code === code);
    if (transition === undefined || state === null) throw new Error(`${id} cannot ${code} in the target`);
    const form = new Set(transition.fields.map((field) => field.code));
    const values = Object.fromEntries(Object.entries(wanted).filter(([field]) => form.has(field)));
    for (const [remark, field] of Object.entries(REMARKS))
      if (event.data[remark] !== undefined) values[field] = event.data[remark];
    await this.#target.workflow.transition(id, {
      transitionId: transition.id,
      expectedRevision: object.revision,
      expectedStateId: state.id,
      values,
    });
    await this.#set(id, wanted);
  }

  /** An event does not hold the text. A comment is added with its present text; one that is archived now has none. */
  async #comment(event: FeedEvent, id: string): Promise<boolean> {
    const commentId = event.data['commentId'] as string;
    if (event.eventType === 'CommentUpdated') return false;
    const found = (await this.#source.comments.list(id)).find((one) => one.id === commentId);
    if (found === undefined) {
      this.#result.left.push(`comment ${commentId} of ${id}, which is archived`);
      return false;
    }
    const { body, visibility } = found;
    const added = await this.#target.comments.add(id, { body, visibility });
    this.#ids.set(commentId, added.id);
    return true;
  }

  async #attach(event: FeedEvent, id: string): Promise<boolean> {
    const attachmentId = event.data['attachmentId'] as string;
    try {
      const file = await this.#source.attachments.download(attachmentId);
      const filename = file.filename ?? 'file';
      const added = await this.#target.attachments.upload(id, await file.bytes(), {
        filename,
        ...(file.mediaType === undefined ? {} : { mediaType: file.mediaType }),
      });
      this.#ids.set(attachmentId, added.id);
      return true;
    } catch (error) {
      if (!(error instanceof NotFound)) throw error;
      this.#result.left.push(`file ${attachmentId} of ${id}, which is archived`);
      return false;
    }
  }

  /** The record at the beginning of the relation repeats it. */
  async #relate({ eventType, data }: FeedEvent, id: string): Promise<boolean> {
    const { definitionCode, sourceObjectId, targetObjectId } = data as Record<string, string>;
    if (id !== sourceObjectId || targetObjectId === undefined) return false;
    if (eventType === 'RelationAdded') {
      const definitionId = this.#definitions.get(definitionCode ?? '') ?? '';
      try {
        await this.#target.relations.add(id, { definitionId, targetObjectId });
      } catch (error) {
        // A relation that belongs to a field came with the value of the field.
        if (!(error instanceof AlreadyExists)) throw error;
        return false;
      }
      return true;
    }
    const relation = (await this.#target.relations.list(id, { direction: 'outgoing' })).find(
      (one) => one.definitionCode === definitionCode && one.targetObjectId === targetObjectId,
    );
    if (relation === undefined) return false;
    await this.#target.relations.archive(relation.id, { expectedRevision: relation.revision });
    return true;
  }
}

if (import.meta.main) {
  const { SOURCE_URL = '', SOURCE_KEY, TARGET_URL = '', TARGET_KEY } = process.env;
  const replay = new Replay(
    new Docket({ url: SOURCE_URL, key: SOURCE_KEY }),
    new Docket({ url: TARGET_URL, key: TARGET_KEY }),
  );
  const { repeated, left } = await replay.run();
  for (const [kind, count] of repeated) process.stdout.write(`${kind.padEnd(24)}${count}\n`);
  for (const line of left) process.stdout.write(`left out: ${line}\n`);
}
