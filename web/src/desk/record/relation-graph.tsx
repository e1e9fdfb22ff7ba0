/** The relations around a record, drawn. A click on a record unfolds what it is related to; a second one goes there. */
import { Text, useComputedColorScheme } from '@mantine/core';
import { useQueries } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Background, Controls, type Edge, MarkerType, type Node, ReactFlow } from '@xyflow/react';
import '@xyflow/react/dist/base.css';
import { useMemo, useState } from 'react';
import type { DocketRecord, Relation } from '../../api/types.ts';
import { useText } from '../../i18n/text.ts';
import { relationsQuery } from '../queries.ts';
import { texts } from '../texts.ts';
import graph from './relation-graph.module.css';
import { relatedName } from './relations.tsx';
import classes from './lists.module.css';

const RING = 230;

/** Rings around the record: what it is related to, then what that is related to, and so on. */
function layout(
  center: { id: string; name: string },
  byRecord: ReadonlyMap<string, readonly Relation[]>,
  untitled: string,
): { nodes: Node[]; edges: Edge[] } {
  const depth = new Map([[center.id, 0]]);
  const names = new Map([[center.id, center.name]]);
  const edges = new Map<string, Edge>();
  for (const [id, level] of depth) {
    for (const relation of byRecord.get(id) ?? []) {
      const other = relation.related.id;
      names.set(other, relatedName(relation.related, untitled));
      if (!depth.has(other)) depth.set(other, level + 1);
      edges.set(relation.id, {
        id: relation.id,
        source: relation.sourceObjectId,
        target: relation.targetObjectId,
        // Named from the source's side, whichever end was read.
        label: relation.direction === 'outgoing' ? relation.name : edges.get(relation.id)?.label,
        markerEnd: { type: MarkerType.ArrowClosed },
      });
    }
  }
  const rings = Map.groupBy([...depth.keys()], (id) => depth.get(id) ?? 0);
  const nodes = [...depth].map(([id, level]): Node => {
    const ring = rings.get(level) ?? [];
    const angle = (ring.indexOf(id) / ring.length) * 2 * Math.PI - Math.PI / 2 + level * 0.4;
    return {
      id,
      position: { x: Math.cos(angle) * RING * level * 1.5, y: Math.sin(angle) * RING * level * 0.8 },
      data: { label: names.get(id) ?? '' },
      className: level === 0 ? `${graph.node} ${graph.center}` : (graph.node ?? ''),
    };
  });
  return { nodes, edges: [...edges.values()] };
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
      <div className={classes.graph}>
        <ReactFlow
          key={drawn.nodes.length}
          aria-label={t.graph}
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
