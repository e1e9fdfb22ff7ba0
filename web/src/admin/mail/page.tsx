/** Mail: what was received and what became of it, and what was sent to users. */
import { Tabs } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useText } from '../../i18n/text.ts';
import { Page, type ScreenProps } from '../../ui/page.tsx';
import { ReceivedMail } from './received.tsx';
import { SentMail } from './sent.tsx';
import { texts } from './texts.ts';

export default function MailPage({ path: [tab] }: ScreenProps) {
  const t = useText(texts);
  const navigate = useNavigate();
  const go = (next: string | null): void =>
    void navigate({ to: '/admin/$', params: { _splat: `mail/${next ?? 'received'}` } });
  return (
    <Page title={t.title}>
      <Tabs value={tab === 'sent' ? 'sent' : 'received'} onChange={go} keepMounted={false}>
        <Tabs.List mb="md">
          <Tabs.Tab value="received">{t.received}</Tabs.Tab>
          <Tabs.Tab value="sent">{t.sent}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="received">
          <ReceivedMail />
        </Tabs.Panel>
        <Tabs.Panel value="sent">
          <SentMail />
        </Tabs.Panel>
      </Tabs>
    </Page>
  );
}
