/** Time intervals with the reason why each was counted or not, as the API returns them. Pure. */
import type { Span, WorkTime } from '../../lib/worktime.ts';
import { type LocalizedText, localized } from '../metadata/index.ts';
import type { CalendarException } from './definitions.ts';

export interface IntervalAnswer {
  from: string;
  to: string;
  ms: number;
  counted: boolean;
  reason: string;
  name?: string;
  pausedBy?: { by: string; actor: { id: string; displayName: string } | null };
}

export function nameIn(text: LocalizedText | undefined, locale: string): { name?: string } {
  return text === undefined ? {} : { name: localized(text, locale, locale) };
}

/**
 * Splits the span into intervals without gaps. The counted intervals add up to the open time of the span. `pausedBy` returns
 * who holds the pause with the given index.
 */
export function intervalsOf(
  time: WorkTime,
  exceptions: readonly CalendarException[],
  span: Span,
  pauses: readonly Span[],
  pausedBy: (pause: number) => Pick<IntervalAnswer, 'pausedBy'>,
  locale: string,
): IntervalAnswer[] {
  return time.pieces(span.from, span.to, pauses).map((piece): IntervalAnswer => {
    const interval = {
      from: new Date(piece.from).toISOString(),
      to: new Date(piece.to).toISOString(),
      ms: piece.to - piece.from,
      counted: piece.kind === 'open',
    };
    if (piece.pause !== undefined) return { ...interval, reason: 'paused', ...pausedBy(piece.pause) };
    const exception = piece.exception === undefined ? undefined : exceptions[piece.exception];
    if (exception === undefined) return { ...interval, reason: piece.kind };
    const reason = exception.hours.length === 0 ? 'holiday' : 'special-hours';
    return { ...interval, reason, ...nameIn(exception.name, locale) };
  });
}
