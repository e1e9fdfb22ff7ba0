/**
 * Graph of a workflow: states in columns by distance from the initial state, transitions as arrows. It follows the edited text.
 */
import { Text, useComputedColorScheme } from '@mantine/core';
import {
  Background,
  Controls,
  type Edge,
  Handle,
  MarkerType,
  type Node,
  type NodeProps,
  Position,
  ReactFlow,
} from '@xyflow/react';
import '@xyflow/react/dist/base.css';
import { useMemo } from 'react';
import { type Language, useLanguage } from '../../i18n/language.ts';
import { useText } from '../../i18n/text.ts';
import { textAt } from '../config/form-parts.tsx';
import { freeCode } from '../config/block.tsx';
import type { AsideProps } from '../config/item-editor.tsx';
import { type ItemValue, nameIn } from '../config/yaml-text.ts';
import classes from './graph.module.css';
import { columnsOf, sourcesOf, statesOf, transitionsOf } from './model.ts';
import { texts } from './texts.ts';

/** Distance of columns: room for the names of transitions between the states. */
const COLUMN = 320;
const ROW = 120;
/** Node id for transitions from any state. */
const ANY = '*';

type StateNode = Node<{ label: string; code: string; category: string; initial: boolean }, 'state'>;

const SIDES = [
  ['top', Position.Top],
  ['bottom', Position.Bottom],
] as const;

function State({ data }: NodeProps<StateNode>) {
  return (
    <div className={classes.state} data-category={data.category} data-initial={data.initial || undefined}>
      <Handle id="in" type="target" position={Position.Left} className={classes.handle} />
      {SIDES.map(([id, position]) => (
        <Handle
          key={`${id}-in`}
          id={`${id}-in`}
          type="target"
          position={position}
          className={classes.handle}
          style={{ left: '35%' }}
        />
      ))}
      <strong>{data.label}</strong>
      {data.label !== data.code && <code>{data.code}</code>}
      <Handle id="out" type="source" position={Position.Right} isConnectable className={classes.start} />
      {SIDES.map(([id, position]) => (
        <Handle
          key={`${id}-out`}
          id={`${id}-out`}
          type="source"
          position={position}
          className={classes.handle}
          style={{ left: '65%' }}
        />
      ))}
    </div>
  );
}

const NODE_TYPES = { state: State };

function draw(item: ItemValue, language: Language, any: string): { nodes: StateNode[]; edges: Edge[] } {
  const states = statesOf(item);
  const transitions = transitionsOf(item);
  const initial = textAt(item, ['initial']);
  const columns = columnsOf(states, transitions, initial);
  const filled = new Map<number, number>();
  const sizes = new Map(
    [...Map.groupBy(states, ({ code }) => columns.get(code) ?? 0)].map(([key, list]) => [key, list.length]),
  );
  const place = (column: number): { x: number; y: number } => {
    const row = filled.get(column) ?? 0;
    filled.set(column, row + 1);
    return { x: column * COLUMN, y: (row - ((sizes.get(column) ?? 1) - 1) / 2) * ROW };
  };
  const nodes = states.map((state): StateNode => {
    const label = nameIn(state.name, language) || state.code;
    const data = { label, code: state.code, category: state.category, initial: state.code === initial };
    return { id: state.code, type: 'state', position: place(columns.get(state.code) ?? 0), data };
  });
  if (transitions.some(({ from }) => from === '*')) {
    const lowest = Math.max(0, ...nodes.map(({ position }) => position.y));
    const data = { label: any, code: any, category: 'any', initial: false };
    nodes.push({ id: ANY, type: 'state', position: { x: 0, y: lowest + ROW * 1.2 }, data });
  }
  const known = new Set(nodes.map(({ id }) => id));
  const labels = new Map<string, string[]>();
  for (const transition of transitions) {
    for (const from of transition.from === '*' ? [ANY] : sourcesOf(transition)) {
      if (!known.has(from) || !known.has(transition.to)) continue;
      const key = JSON.stringify([from, transition.to]);
      labels.set(key, [...(labels.get(key) ?? []), nameIn(transition.name, language) || transition.code]);
    }
  }
  const rows = new Map(nodes.map(({ id, position }) => [id, position.y]));
  const turns = { top: 0, bottom: 0 };
  const edges = [...labels].map(([key, names]): Edge => {
    const [source, target] = JSON.parse(key) as [string, string];
    const shared = { id: key, source, target, label: names.join(' · '), markerEnd: { type: MarkerType.ArrowClosed } };
    const distance = (columns.get(target) ?? 0) - (source === ANY ? -1 : (columns.get(source) ?? 0));
    if (distance > 0) return { ...shared, type: 'default', sourceHandle: 'out', targetHandle: 'in' };
    const down = (rows.get(target) ?? 0) - (rows.get(source) ?? 0);
    const back = { ...shared, type: 'smoothstep', className: classes.back ?? '' };
    if (distance === 0 && down !== 0) {
      return {
        ...back,
        sourceHandle: down > 0 ? 'bottom-out' : 'top-out',
        targetHandle: down > 0 ? 'top-in' : 'bottom-in',
      };
    }
    // Backward transitions run above or below the states, each at its own height.
    const side = (rows.get(source) ?? 0) < 0 || (rows.get(target) ?? 0) < 0 ? 'top' : 'bottom';
    turns[side] += 1;
    const pathOptions = { offset: 14 + turns[side] * 20 };
    return { ...back, sourceHandle: `${side}-out`, targetHandle: `${side}-in`, pathOptions } as Edge;
  });
  return { nodes, edges };
}

export default function WorkflowGraph({ item, set }: AsideProps) {
  const t = useText(texts);
  const language = useLanguage();
  const scheme = useComputedColorScheme('light');
  const { nodes, edges } = useMemo(() => draw(item, language, t.any), [item, language, t.any]);
  const connect = ({ source, target }: { source: string; target: string }): void => {
    const transitions = transitionsOf(item);
    const code = freeCode('transition', transitions);
    set(['transitions'], [...transitions, { code, from: source === ANY ? ANY : [source], to: target }]);
  };
  if (nodes.length === 0) {
    return (
      <Text c="dimmed" size="sm">
        {t.nothingDrawn}
      </Text>
    );
  }
  return (
    <div>
      <div className={classes.graph}>
        <ReactFlow
          // A changed set of states remounts the graph, to fit it to the view.
          key={nodes.map(({ id }) => id).join(' ')}
          aria-label={t.graph}
          nodes={nodes}
          edges={edges}
          nodeTypes={NODE_TYPES}
          colorMode={scheme}
          nodesDraggable={false}
          nodesConnectable={false}
          // Dropping anywhere on a state connects to it.
          connectionRadius={90}
          onConnect={connect}
          isValidConnection={({ target }) => target !== ANY}
          nodesFocusable={false}
          edgesFocusable={false}
          fitView
          fitViewOptions={{ padding: 0.2, maxZoom: 1.1 }}
          minZoom={0.2}
          preventScrolling={false}
          zoomOnScroll={false}
          proOptions={{ hideAttribution: true }}
        >
          <Background gap={24} />
          <Controls showInteractive={false} />
        </ReactFlow>
      </div>
      <Text size="xs" c="dimmed" mt={4}>
        {t.drawHint}
      </Text>
    </div>
  );
}
