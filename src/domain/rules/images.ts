/**
 * Records as the events of a unit of work left them. Rules run behind the changes: while they judge one event, the record can hold
 * the changes of later ones. So these are undone once, and made again event by event. One image is kept for each record that has
 * such changes, however many events there are.
 */
import type { PlannedEvent, ReadContext } from '../../platform/unit-of-work/context.ts';
import {
  type LastChange,
  recordOf,
  type RecordView,
  storedRow,
  viewAfter,
  viewBefore,
  viewChangedBy,
} from '../objects/index.ts';

type EventOnRecord = Pick<PlannedEvent, 'objectId' | 'revision' | 'changes' | 'origin'>;
type Changes = NonNullable<EventOnRecord['changes']>;

/** The changes of a record in their order, and how far the events were passed. */
interface Course {
  changes: Changes[];
  passed: number;
  /** Facts about the last change that was passed. */
  last: LastChange | undefined;
  /** The record after the last event that was passed; undefined if it was not needed, or is the present one. */
  image: RecordView | undefined;
}

export interface Image {
  after: RecordView;
  before(): RecordView;
}

export class Images {
  readonly #ctx: ReadContext;
  readonly #courses = new Map<string, Course>();

  constructor(ctx: ReadContext) {
    this.#ctx = ctx;
  }

  /** Takes an event that will be passed later. Events are added and passed in the order in which they were made. */
  add({ objectId, revision, changes = {} }: EventOnRecord): void {
    if (objectId === undefined || revision === undefined) return;
    const course = this.#courses.get(objectId);
    if (course === undefined) {
      this.#courses.set(objectId, { changes: [changes], passed: 0, last: undefined, image: undefined });
    } else course.changes.push(changes);
  }

  /**
   * Passes an event that was added.
   *
   * @param isJudged false: no image is needed
   * @returns the record before and after the event; undefined if there is none
   */
  async pass(event: EventOnRecord, isJudged: boolean): Promise<Image | undefined> {
    const { objectId, revision, changes = {} } = event;
    if (objectId === undefined) return undefined;
    const course = this.#courses.get(objectId);
    const lastBefore = course?.last ?? storedRow(this.#ctx, objectId);
    if (course !== undefined && revision !== undefined) {
      course.passed++;
      course.last = { revision, updatedAt: this.#ctx.now, updatedBy: (event.origin?.actor ?? this.#ctx.actor).userId };
      if (course.image !== undefined) course.image = viewAfter(this.#ctx, course.image, changes);
    }
    const now = isJudged ? await recordOf(this.#ctx, objectId) : undefined;
    if (now === undefined) return undefined;
    const after = course === undefined ? now : this.#imageOf(course, now, course.last ?? lastBefore);
    return {
      after,
      before: () => viewChangedBy(viewBefore(this.#ctx, after, [changes]), lastBefore ?? after.row),
    };
  }

  #imageOf(course: Course, now: RecordView, last: LastChange | undefined): RecordView {
    const { changes, passed } = course;
    if (passed === changes.length) {
      course.image = undefined;
      return now;
    }
    course.image ??= viewBefore(this.#ctx, now, changes.slice(passed));
    return viewChangedBy(course.image, { ...(last ?? now.row), updatedAt: now.row.updatedAt });
  }
}
