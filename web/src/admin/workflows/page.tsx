/** Workflows: the list, and the editor of one workflow with its graph, states and transitions. */
import { Skeleton } from '@mantine/core';
import { lazy, Suspense } from 'react';
import { configPage } from '../config/config-screen.tsx';
import type { AsideProps } from '../config/item-editor.tsx';
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

export default configPage({
  section: 'workflows',
  screen: 'workflows',
  texts,
  template: TEMPLATE,
  form: WorkflowForm,
  aside: Drawn,
  asideAbove: true,
});
