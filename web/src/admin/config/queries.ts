/** Queries of the configuration screens. They share the key `config`, so that an apply invalidates all of them. */
import { queryOptions } from '@tanstack/react-query';
import { type AnswerOf, type ApiFault, type BodyOf, call, callWithMeta } from '../../api/client.ts';
import type { configuration } from '../../api/types.ts';

export type ConfigItem = AnswerOf<typeof configuration.listSection>[number];
export type ItemText = AnswerOf<typeof configuration.readItem>;
export type PlannedChange = AnswerOf<typeof configuration.plan>[number];
export type BundleBody = BodyOf<typeof configuration.plan>;

/** A name in the configuration: one text, or one per locale. */
export type LocalizedText = string | Readonly<Record<string, string>>;

export const sectionQuery = (section: string) =>
  queryOptions({
    queryKey: ['config', 'section', section],
    queryFn: ({ signal }) =>
      call<typeof configuration.listSection>('GET', `/config/${encodeURIComponent(section)}`, {
        query: { include: 'updatedAt' },
        signal,
      }),
    staleTime: 30_000,
  });

/** The items of a section with who changed them and what uses them, for lists. */
export const sectionListQuery = (section: string) =>
  queryOptions({
    queryKey: ['config', 'section', section, 'uses'],
    queryFn: ({ signal }) =>
      call<typeof configuration.listSection>('GET', `/config/${encodeURIComponent(section)}`, {
        query: { include: 'updatedAt,changedBy,usedBy' },
        signal,
      }),
    staleTime: 30_000,
  });

export const itemQuery = (section: string, code: string) =>
  queryOptions({
    queryKey: ['config', 'item', section, code],
    queryFn: async ({ signal }) => {
      const path = `/config/${section}/${encodeURIComponent(code)}`;
      const { data, meta } = await callWithMeta<typeof configuration.readItem>('GET', path, { signal });
      return { ...data, configVersion: meta.configVersion };
    },
    // The text being edited must not change through a refetch.
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
  });

/** The plan of a bundle; a fault carries the errors and their places. */
export const planQuery = (body: BundleBody) =>
  queryOptions({
    queryKey: ['config', 'plan', body],
    queryFn: ({ signal }) => planBundle(body, signal),
    retry: false,
    staleTime: 0,
    gcTime: 10_000,
    refetchOnWindowFocus: false,
  });

/** A plan and the configuration version that it compares with. */
export async function planBundle(
  body: BundleBody,
  signal?: AbortSignal,
): Promise<{ items: readonly PlannedChange[]; configVersion: number }> {
  const { data, meta } = await callWithMeta<typeof configuration.plan>('POST', '/config/plan', { body, signal });
  return { items: data, configVersion: meta.configVersion };
}

export type ApplyBody = BodyOf<typeof configuration.apply>;

/** A validation error of a plan or apply. */
export interface Problem {
  /** Null if the error is in stored configuration, not in the files. */
  file: string | null;
  line: number | null;
  column: number | null;
  /** `types[0].fields[2].dataType`. */
  at: string;
  code: string;
  message: string;
}

/** Editor marks for the errors that have a line. */
export function marksOf(problems: readonly Problem[]): { line: number; message: string }[] {
  return problems.flatMap(({ line, message }) => (line === null ? [] : [{ line, message }]));
}

/** The errors of a rejected plan or apply. */
export function problemsOf(fault: ApiFault): Problem[] {
  return fault.places.map((place) => {
    const more = place as Partial<Problem>;
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
