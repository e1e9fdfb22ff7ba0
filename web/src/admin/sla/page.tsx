/** SLA policies: their configuration, with a try-out of the one that is stored. */
import { useText } from '../../i18n/text.ts';
import type { ScreenProps } from '../../screens.ts';
import { ConfigScreen } from '../config/config-screen.tsx';
import { PolicyForm } from './policy-form.tsx';
import { texts } from './texts.ts';
import { TryOut } from './try-out.tsx';

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
    />
  );
}
