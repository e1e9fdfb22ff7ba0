/** Records offered while a user types: by number, by title, then by words. */
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { type AnswerOf, call } from '../../api/client.ts';
import type { deskRecord } from '../../api/types.ts';

export type Suggestion = AnswerOf<typeof deskRecord.listSuggestions>[number];

const LONGEST = 200;

/** The suggestions for exactly this text; empty until they are loaded. */
export function useSuggestions(text: string): readonly Suggestion[] {
  const asked = text.trim();
  const [wanted] = useDebouncedValue(asked, 150);
  const { data } = useQuery({
    queryKey: ['suggestions', wanted],
    queryFn: ({ signal }) =>
      call<typeof deskRecord.listSuggestions>('GET', '/desk/suggestions', { query: { q: wanted }, signal }),
    enabled: wanted !== '' && wanted.length <= LONGEST,
  });
  return wanted === asked ? (data ?? []) : [];
}

export function suggestionName({ number, title }: Suggestion): string {
  return [number, title].filter(Boolean).join(' · ');
}
