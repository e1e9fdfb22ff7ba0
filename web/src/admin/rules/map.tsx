/** Which rule can fire which: a diagram, and the same as a list. */
import { Anchor, Loader, Text } from '@mantine/core';
import { useElementSize } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useText } from '../../i18n/text.ts';
import { FaultAlert } from '../../ui/fault.tsx';
import { Page, Panel } from '../../ui/page.tsx';
import { Mark } from '../config/mark.tsx';
import { BOX, layoutOf, type RuleBox } from './layout.ts';
import { graphQuery, type RuleInGraph } from './queries.ts';
import classes from './rules.module.css';
import { texts } from './texts.ts';

/** Width of a character of a name in a box, in pixels. */
const CHARACTER = 7.2;

export default function MapPage() {
  const t = useText(texts);
  const { data, error, refetch } = useQuery(graphQuery);
  return (
    <Page title={t.map} hint={t.mapHint} back={{ label: t.title, href: '/admin/rules' }}>
      <FaultAlert error={error} retry={() => void refetch()} />
      {data === undefined && error === null && <Loader size="sm" />}
      {data !== undefined && (
        <>
          <Diagram rules={data} />
          <Panel title={t.list}>
            <RuleList rules={data} />
          </Panel>
        </>
      )}
    </Page>
  );
}

function namesOf(rules: readonly RuleInGraph[]): (codes: readonly string[]) => string[] {
  const names = new Map(rules.map(({ code, name }) => [code, name]));
  return (codes) => codes.map((code) => names.get(code) ?? code);
}

function Diagram({ rules }: { rules: readonly RuleInGraph[] }) {
  const t = useText(texts);
  const { ref, width: room } = useElementSize();
  // Unknown in the first rendering.
  const drawing = useMemo(() => layoutOf(rules, room === 0 ? Number.POSITIVE_INFINITY : room), [rules, room]);
  const { places, edges, width, height } = drawing;
  if (edges.length === 0) return <Text mb="sm">{t.alone}</Text>;
  return (
    <div ref={ref} className={classes.map} tabIndex={0} role="group" aria-label={t.mapLabel}>
      <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="group" aria-label={t.mapLabel}>
        <defs>
          <marker id="rule-arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">
            <path d="M0,0 L8,4 L0,8 z" className={classes.arrow} />
          </marker>
        </defs>
        {edges.map(({ from, to, isLoop, path }) => (
          <path
            key={`${from.rule.code} ${to.rule.code}`}
            d={path}
            className={classes.edge}
            data-loop={isLoop || undefined}
            markerEnd="url(#rule-arrow)"
          />
        ))}
        {places.map((place) => (
          <Box key={place.rule.code} place={place} fires={namesOf(rules)(place.rule.fires)} />
        ))}
      </svg>
    </div>
  );
}

function Box({ place: { rule, x, y, width }, fires }: { place: RuleBox; fires: readonly string[] }) {
  const t = useText(texts);
  const navigate = useNavigate();
  const most = Math.floor((width - 24) / CHARACTER);
  const [name = '', code = ''] = [rule.name, t.codeWithOrder(rule.code, rule.order)].map((text) =>
    text.length > most ? `${text.slice(0, most - 1)}…` : text,
  );
  const splat = `rules/${encodeURIComponent(rule.code)}`;
  return (
    <g>
      {/* Outside of the link, whose visible text it would count as. */}
      {name !== rule.name && <title>{rule.name}</title>}
      <a
        href={`/admin/${splat}`}
        className={classes.box}
        // It must contain the text that is seen.
        aria-label={`${name} ${code}, ${name === rule.name ? '' : `${rule.name}, `}${fires.length === 0 ? t.firesNone : t.fires(fires.join(', '))}`}
        onClick={(event) => {
          event.preventDefault();
          void navigate({ to: '/admin/$', params: { _splat: splat } });
        }}
      >
        <rect x={x} y={y} width={width} height={BOX.height} rx={8} />
        <text x={x + 12} y={y + 24}>
          {name}
        </text>{' '}
        <text x={x + 12} y={y + 42} className={classes.code}>
          {code}
        </text>
      </a>
    </g>
  );
}

function RuleList({ rules }: { rules: readonly RuleInGraph[] }) {
  const t = useText(texts);
  const names = namesOf(rules);
  return (
    <ul className={classes.list}>
      {rules.map(({ code, name, enabled, order, fires, loop, unmeetable }) => (
        <li key={code}>
          <Anchor
            size="sm"
            renderRoot={(props) => (
              <Link to="/admin/$" params={{ _splat: `rules/${encodeURIComponent(code)}` }} {...props} />
            )}
          >
            {name}
          </Anchor>{' '}
          <Text span size="sm" c="dimmed">
            {t.orderOf(order)}
          </Text>{' '}
          {!enabled && <Mark tone="off">{t.disabled}</Mark>}
          <Text size="sm" c="dimmed">
            {fires.length === 0 ? t.firesNone : t.fires(names(fires).join(', '))}
          </Text>
          {loop !== null && <Mark tone="warn">{t.loop(names(loop).join(' → '))}</Mark>}
          {unmeetable !== null && <Mark tone="warn">{t.unmeetable(unmeetable)}</Mark>}
        </li>
      ))}
    </ul>
  );
}
