/** Audience editor: everybody, or groups, units and users. */
import { NativeSelect, SimpleGrid, Stack } from '@mantine/core';
import { useText } from '../../i18n/text.ts';
import { ChooseItems } from './choices.tsx';
import { at, type FormPart } from './form-parts.tsx';
import { texts } from './texts.ts';
import type { Path } from './yaml-text.ts';

const KINDS = ['groups', 'orgUnits', 'users'] as const;
const AUDIENCE: Path = ['audience'];

export function AudiencePart({ item, set, path = AUDIENCE }: FormPart & { path?: Path }) {
  const t = useText(texts);
  const everyone = at(item, [...path, 'everyone']) === true;
  const of = (kind: string): string[] => {
    const list = at(item, [...path, kind]);
    return Array.isArray(list) ? list.map(String) : [];
  };
  const put = (kind: string, codes: string[]): void => {
    const next = Object.fromEntries(
      KINDS.map((one) => [one, one === kind ? codes : of(one)] as const).filter(([, list]) => list.length > 0),
    );
    set(path, Object.keys(next).length === 0 ? {} : next);
  };
  return (
    <Stack gap="xs">
      <NativeSelect
        label={t.audience}
        description={!everyone && KINDS.every((kind) => of(kind).length === 0) ? t.audienceNobody : undefined}
        value={everyone ? 'everyone' : 'some'}
        onChange={(event) => set(path, event.currentTarget.value === 'everyone' ? { everyone: true } : {})}
        data={[
          { value: 'everyone', label: t.everyone },
          { value: 'some', label: t.someOnly },
        ]}
      />
      {!everyone && (
        <SimpleGrid cols={{ base: 1, xs: 3 }} spacing="sm">
          {KINDS.map((kind) => (
            <ChooseItems
              key={kind}
              section={kind}
              label={t[kind]}
              value={of(kind)}
              onChange={(codes) => put(kind, codes)}
            />
          ))}
        </SimpleGrid>
      )}
    </Stack>
  );
}
