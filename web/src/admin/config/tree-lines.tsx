/** Editor of a tree as a list with parents: categories of a catalog, sections of a knowledge base. */
import { ActionIcon, Stack } from '@mantine/core';
import { IconTrash } from '@tabler/icons-react';
import { useLanguage } from '../../i18n/language.ts';
import { useText } from '../../i18n/text.ts';
import type { Coded } from './codes.ts';
import { codedOf, freeCode } from './block.tsx';
import { ChooseOne } from './choices.tsx';
import { at, type FormPart, LocalizedName } from './form-parts.tsx';
import { LinesHead, LinesTable } from './lines-table.tsx';
import { PartCode } from './part-code.tsx';
import { texts } from './texts.ts';
import { nameIn } from './yaml-text.ts';

interface Line extends Coded {
  parent?: string | null;
}

interface TreeLinesProps extends FormPart {
  /** The property that holds the list. */
  property: string;
  title: string;
  add: string;
  stem: string;
}

export function TreeLines({ item, set, property, title, add, stem }: TreeLinesProps) {
  const t = useText(texts);
  const language = useLanguage();
  const lines = codedOf<Line>(at(item, [property]));
  const choices = lines.map(({ code, name }) => ({ code, name: nameIn(name, language) || code }));
  return (
    <Stack gap="xs">
      <LinesHead title={title} add={add} onAdd={() => set([property], [...lines, { code: freeCode(stem, lines) }])} />
      {lines.length > 0 && (
        <LinesTable label={title} columns={[t.name, t.code, t.below]}>
          {lines.map((line, index) => (
            <tr
              // An entry's code can change while it is typed; only the index identifies it.
              // oxlint-disable-next-line react/no-array-index-key
              key={index}
            >
              <td>
                <LocalizedName
                  label={`${t.name}: ${line.code}`}
                  code={line.code}
                  name={line.name}
                  onChange={(name) => set([property, index, 'name'], name)}
                />
              </td>
              <td>
                <PartCode
                  aria-label={`${t.code}: ${line.code}`}
                  list={[property]}
                  part={line}
                  onChange={(code) => set([property, index, 'code'], code)}
                />
              </td>
              <td>
                <ChooseOne
                  aria-label={`${t.below}: ${line.code}`}
                  placeholder={t.top}
                  choices={choices.filter(({ code }) => code !== line.code)}
                  value={line.parent ?? null}
                  onChange={(parent) => set([property, index, 'parent'], parent ?? undefined)}
                />
              </td>
              <td>
                <ActionIcon
                  aria-label={`${t.takeOut}: ${line.code}`}
                  onClick={() => set([property], lines.toSpliced(index, 1))}
                >
                  <IconTrash size={16} />
                </ActionIcon>
              </td>
            </tr>
          ))}
        </LinesTable>
      )}
    </Stack>
  );
}
