import { EVENTS, type EventType, WEBHOOK_EVENTS } from '../../../src/contract/events.ts';
import { defineText } from './text.ts';

function namesIn(language: 0 | 1): Record<EventType, string> {
  return Object.fromEntries(Object.entries(EVENTS).map(([type, { names }]) => [type, names[language]])) as Record<
    EventType,
    string
  >;
}

/** Names of all events: those that the history and webhooks show, and the entries of the audit log. */
export const eventTexts = defineText(namesIn(0), namesIn(1));

export const EVENT_KINDS = WEBHOOK_EVENTS;

/** The name of an event type; unknown ones are shown unchanged. */
export function eventName(texts: Readonly<Record<string, string>>, kind: string): string {
  return Object.hasOwn(texts, kind) ? (texts[kind] ?? kind) : kind;
}
