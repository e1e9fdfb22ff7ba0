/** The words in the search field of a page. They are part of the address, so that they are there again after going back. */
import { useDebouncedCallback } from '@mantine/hooks';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';

/** The words of the address, as `q`. */
export function useWordsInAddress(): string {
  const { q } = useSearch({ strict: false }) as { q?: unknown };
  return typeof q === 'string' ? q : '';
}

export function useSearchWords(): [typed: string, type: (next: string) => void] {
  const navigate = useNavigate();
  const [typed, setTyped] = useState(useWordsInAddress());
  const keep = useDebouncedCallback((q: string) => {
    const search = (before: object) => ({ ...before, q: q.trim() === '' ? undefined : q });
    void navigate({ to: '.', search: search as never, replace: true, resetScroll: false });
    // Sooner than any result can be clicked.
  }, 150);
  return [
    typed,
    (next) => {
      setTyped(next);
      keep(next);
    },
  ];
}
