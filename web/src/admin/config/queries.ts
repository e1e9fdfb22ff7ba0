/** What configuration screens ask the service for. Everything stands under the key `config`, so that an apply touches it all. */
import { queryOptions } from '@tanstack/react-query';
import { type AnswerOf, type ApiFault, type BodyOf, call } from '../../api/client.ts';
import type { configuration } from '../../api/types.ts';

export type ConfigItem = AnswerOf<typeof configuration.listSection>[number];
export type ItemText = AnswerOf<typeof configuration.readItem>;
export type PlannedChange = AnswerOf<typeof configuration.plan>[number];
export type BundleBody = BodyOf<typeof configuration.plan>;

/** A name as the configuration writes it: a text, or one for each locale. */
export type LocalizedText = string | Readonly<Record<string, string>>;

export const sectionQuery = (section: string) =>
  queryOptions({
    queryKey: ['config', 'section', section],
    queryFn: ({ signal }) =>
      call<typeof configuration.listSection>('GET', `/config/${encodeURIComponent(section)}`, { signal }),
    staleTime: 30_000,
  });

export const itemQuery = (section: string, code: string) =>
  queryOptions({
    queryKey: ['config', 'item', section, code],
    queryFn: ({ signal }) =>
      call<typeof configuration.readItem>('GET', `/config/${section}/${encodeURIComponent(code)}`, { signal }),
    // What is being edited must not change under the person's hands.
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
  });

/** What applying would do; a fault carries the places that are wrong. */
export const planQuery = (body: BundleBody) =>
  queryOptions({
    queryKey: ['config', 'plan', body],
    queryFn: ({ signal }) => call<typeof configuration.plan>('POST', '/config/plan', { body, signal }),
    retry: false,
    staleTime: 0,
    gcTime: 10_000,
    refetchOnWindowFocus: false,
  });

export const applyBundle = (body: BundleBody) => call<typeof configuration.apply>('POST', '/config/apply', { body });

/** A place that a plan or an apply found wrong. */
export interface Flaw {
  /** Null for what stands in the service already and is not in the files. */
  file: string | null;
  line: number | null;
  column: number | null;
  /** `types[0].fields[2].dataType`. */
  at: string;
  code: string;
  message: string;
}

/** The places of a refused plan or apply. */
export function flawsOf(fault: ApiFault): Flaw[] {
  return fault.places.map((place) => {
    const more = place as Partial<Flaw>;
    return {
      file: more.file ?? null,
      line: more.line ?? null,
      column: more.column ?? null,
      at: more.at ?? place.path,
      code: place.code,
      message: place.message,
    };
  });
}
