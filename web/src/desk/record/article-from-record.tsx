/** Menu item: starts an article with the text of the record. */
import { Menu } from '@mantine/core';
import { IconBook2 } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { useHas } from '../../app/session.ts';
import { useText } from '../../i18n/text.ts';
import { texts } from '../texts.ts';

export function ArticleFromRecord({ recordId }: { recordId: string }) {
  const t = useText(texts);
  const has = useHas();
  if (!has('kb.write')) return null;
  return (
    <Menu.Item
      leftSection={<IconBook2 size={14} />}
      renderRoot={(props) => <Link to="/work/$" params={{ _splat: `knowledge/new/${recordId}` }} {...props} />}
    >
      {t.articleFromRecord}
    </Menu.Item>
  );
}
