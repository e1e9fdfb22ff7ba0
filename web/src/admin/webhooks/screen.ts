import { IconWebhook } from '@tabler/icons-react';
import { both } from '../../i18n/text.ts';
import type { Screen } from '../../screens.ts';

export const screen: Screen = {
  path: 'webhooks',
  section: 'connections',
  order: 10,
  title: both('Вебхуки', 'Webhooks'),
  summary: both(
    'Кому сообщать о событиях, доставки и секреты подписи',
    'Who is told of events, deliveries, signing secrets',
  ),
  icon: IconWebhook,
  rights: ['webhook.manage'],
  load: () => import('./page.tsx'),
};
