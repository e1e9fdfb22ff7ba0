/** Workflows: the list, and the editor of one workflow with its graph, states and transitions. */
import { Skeleton } from '@mantine/core';
import { lazy, Suspense } from 'react';
import { useText } from '../../i18n/text.ts';
import { ConfigScreen } from '../config/config-screen.tsx';
import type { AsideProps } from '../config/item-editor.tsx';
import type { ScreenProps } from '../../ui/page.tsx';
import { texts } from './texts.ts';
import { WorkflowForm } from './workflow-form.tsx';

const WorkflowGraph = lazy(() => import('./graph.tsx'));

const TEMPLATE = `code: my-workflow
name:
  ru-RU: Новый процесс
  en-US: New workflow
initial: new
states:
  - code: new
    name: { ru-RU: Новая, en-US: New }
    category: open
  - code: done
    name: { ru-RU: Готово, en-US: Done }
    category: done
transitions:
  - code: finish
    name: { ru-RU: Завершить, en-US: Finish }
    from: [new]
    to: done
`;

function Drawn(props: AsideProps) {
  return (
    <Suspense fallback={<Skeleton height={260} />}>
      <WorkflowGraph {...props} />
    </Suspense>
  );
}

export default function WorkflowsPage({ path }: ScreenProps) {
  const t = useText(texts);
  return (
    <ConfigScreen
      section="workflows"
      screen="workflows"
      path={path}
      title={t.title}
      hint={t.hint}
      newTitle={t.create}
      template={TEMPLATE}
      form={WorkflowForm}
      aside={Drawn}
      asideAbove
    />
  );
}
