/** A graph of a record's relations. The first click on a node expands it, the second opens the record. */
import { Text, useComputedColorScheme } from '@mantine/core';
import { useQueries } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Background, Controls, type Edge, Handle, type Node, type NodeProps, Position, ReactFlow } from '@xyflow/react';
import '@xyflow/react/dist/base.css';
import { useMemo, useState } from 'react';
import type { DocketRecord, Relation } from '../../api/types.ts';
import { useText } from '../../i18n/text.ts';
import { relatedName, relationsQuery } from '../queries.ts';
import { texts } from '../texts.ts';
import graph from './relation-graph.module.css';
import classes from './lists.module.css';

const RING = 230;

/** A node of the graph. Edges run between the centers, behind the nodes. */
function RecordNode({ data }: NodeProps) {
  return (
    <div className={graph.node} data-center={data['center'] === true || undefined}>
      <Handle type="source" position={Position.Top} className={graph.handle ?? ''} isConnectable={false} />
      <Handle type="target" position={Position.Top} className={graph.handle ?? ''} isConnectable={false} />
      {String(data['label'])}
    </div>
  );
}

const NODE_TYPES = { record: RecordNode };

/** Concentric layout: each circle holds the records one relation further away. */
function layout(
  center: { id: string; name: string },
  byRecord: ReadonlyMap<string, readonly Relation[]>,
  untitled: string,
): { nodes: Node[]; edges: Edge[] } {
  const depth = new Map([[center.id, 0]]);
  const names = new Map([[center.id, center.name]]);
  const found = new Map<string, { source: string; target: string; name: string | undefined }>();
  for (const [id, level] of depth) {
    for (const relation of byRecord.get(id) ?? []) {
      const other = relation.related.id;
      names.set(other, relatedName(relation.related, untitled));
      if (!depth.has(other)) depth.set(other, level + 1);
      // Named from the source's side, whichever end was loaded.
      const name = relation.direction === 'outgoing' ? relation.name : found.get(relation.id)?.name;
      found.set(relation.id, { source: relation.sourceObjectId, target: relation.targetObjectId, name });
    }
  }
  const rings = Map.groupBy([...depth.keys()], (id) => depth.get(id) ?? 0);
  const places = new Map(
    [...depth].map(([id, level]) => {
      const ring = rings.get(level) ?? [];
      const angle = (ring.indexOf(id) / ring.length) * 2 * Math.PI - Math.PI / 2 + level * 0.4;
      return [id, { x: Math.cos(angle) * RING * level * 1.5, y: Math.sin(angle) * RING * level * 0.8 }];
    }),
  );
  const nodes = [...depth].map(([id, level]): Node => {
    const data = { label: names.get(id) ?? '', center: level === 0 };
    return { id, type: 'record', position: places.get(id) ?? { x: 0, y: 0 }, data };
  });
  // Several relations between two records share one edge with several names.
  const lines = Map.groupBy(found.values(), ({ source, target }) => `${source} ${target}`);
  const edges = [...lines].map(([id, same]): Edge => {
    const { source = '', target = '' } = same[0] ?? {};
    const rightward = (places.get(source)?.x ?? 0) <= (places.get(target)?.x ?? 0);
    const label = [...new Set(same.flatMap(({ name }) => name ?? []))].join(', ');
    return { id, source, target, type: 'straight', label: rightward ? `${label} →` : `← ${label}` };
  });
  return { nodes, edges };
}

export default function RelationGraph({ record }: { record: DocketRecord }) {
  const t = useText(texts);
  const navigate = useNavigate();
  const scheme = useComputedColorScheme('light');
  const [open, setOpen] = useState<readonly string[]>([record.id]);
  const found = useQueries({
    queries: open.map((id) => relationsQuery(id)),
    combine: (results) => new Map(results.map(({ data }, index) => [open[index] as string, data ?? []])),
  });
  const name = [record.number, record.title].filter(Boolean).join(' · ') || t.hiddenTitle;
  const drawn = useMemo(
    () => layout({ id: record.id, name }, found, t.hiddenTitle),
    [record.id, name, found, t.hiddenTitle],
  );
  const unfold = (id: string): void => {
    if (open.includes(id)) void navigate({ to: '/records/$recordId', params: { recordId: id } });
    else setOpen([...open, id]);
  };
  return (
    <figure style={{ margin: 0 }}>
      <div className={`${classes.graph} ${graph.flow}`}>
        <ReactFlow
          key={drawn.nodes.length}
          aria-label={t.graph}
          nodeTypes={NODE_TYPES}
          nodes={drawn.nodes}
          edges={drawn.edges}
          onNodeClick={(_event, node) => unfold(node.id)}
          colorMode={scheme}
          nodesConnectable={false}
          edgesFocusable={false}
          fitView
          minZoom={0.2}
          proOptions={{ hideAttribution: true }}
        >
          <Background gap={24} />
          <Controls showInteractive={false} />
        </ReactFlow>
      </div>
      <Text component="figcaption" size="xs" c="dimmed" mt={4}>
        {t.graphHint}
      </Text>
    </figure>
  );
}
