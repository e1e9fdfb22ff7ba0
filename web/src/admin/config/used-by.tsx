/** How many items use an item of the configuration, with links to them. */
import { Anchor, Button, Popover, Stack, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useLanguage } from '../../i18n/language.ts';
import { useText } from '../../i18n/text.ts';
import { subjectTexts } from '../audit/texts.ts';
import { PAGES } from './pages.ts';
import type { ConfigItem } from './queries.ts';
import { texts } from './texts.ts';
import { nameIn } from './yaml-text.ts';

type Use = NonNullable<ConfigItem['usedBy']>['items'][number];

function hrefOf({ section, id, code }: Use): string | undefined {
  const page = PAGES[section];
  return page === undefined ? undefined : `/admin/${page[0]}/${encodeURIComponent(page[1] === 'id' ? id : code)}`;
}

export function UsedBy({ item }: { item: ConfigItem }) {
  const t = useText(texts);
  const language = useLanguage();
  const { count, items } = item.usedBy ?? { count: 0, items: [] };
  if (count === 0)
    return (
      <Text size="sm" c="dimmed" component="span">
        {t.unused}
      </Text>
    );
  const name = nameIn(item.name, language) || item.code;
  return (
    <span onClick={(event) => event.stopPropagation()} role="presentation">
      <Popover position="bottom-start" withArrow trapFocus returnFocus>
        <Popover.Target>
          <Button size="compact-xs" variant="light" aria-label={t.usedByOf(name, count)}>
            {count}
          </Button>
        </Popover.Target>
        <Popover.Dropdown aria-label={t.usedByOf(name, count)}>
          <Stack gap={4} mah="20rem" style={{ overflowY: 'auto' }}>
            {items.map((use) => (
              <UseLink key={`${use.section} ${use.code}`} use={use} />
            ))}
            {count > items.length && (
              <Text size="xs" c="dimmed">
                {t.moreUses(count - items.length)}
              </Text>
            )}
          </Stack>
        </Popover.Dropdown>
      </Popover>
    </span>
  );
}

function UseLink({ use }: { use: Use }) {
  const language = useLanguage();
  const sections = useText(subjectTexts) as Readonly<Record<string, string>>;
  const href = hrefOf(use);
  const name = nameIn(use.name, language) || use.code;
  return (
    <Text size="sm">
      <Text span c="dimmed">
        {sections[use.section] ?? use.section}:{' '}
      </Text>
      {href === undefined ? name : <Anchor renderRoot={(props) => <Link to={href} {...props} />}>{name}</Anchor>}
    </Text>
  );
}
