/** SLA policies, with a dry run of stored policies. */
import { Button } from '@mantine/core';
import { IconHourglass } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { useText } from '../../i18n/text.ts';
import { ConfigScreen } from '../config/config-screen.tsx';
import type { ScreenProps } from '../../ui/page.tsx';
import { PolicyForm } from './policy-form.tsx';
import { texts } from './texts.ts';
import { TryOut, TryPage } from './try-out.tsx';

const TEMPLATE = `code: incident-response
name: { ru-RU: Ответ, en-US: Response }
type: incident
calendar: office
targets:
  - { when: { field: priority, operator: equals, value: p1 }, duration: PT1H }
  - { duration: PT8H }
start: { field: workflowState, operator: equals, value: new }
stop: { field: workflowState, operator: equals, value: resolved }
warnAt: [50, 90]
`;

export default function SlaPage({ path }: ScreenProps) {
  const t = useText(texts);
  const navigate = useNavigate();
  if (path[0] === '_try') return <TryPage />;
  return (
    <ConfigScreen
      section="slaPolicies"
      screen="sla"
      path={path}
      title={t.title}
      hint={t.hint}
      newTitle={t.newOne}
      template={TEMPLATE}
      form={PolicyForm}
      above={TryOut}
      actions={
        <Button
          variant="default"
          leftSection={<IconHourglass size={14} />}
          onClick={() => void navigate({ to: '/admin/$', params: { _splat: 'sla/_try' } })}
        >
          {t.tryTitle}
        </Button>
      }
    />
  );
}
