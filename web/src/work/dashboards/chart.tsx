/** Bars, lines and stacked areas by ECharts, drawn on a canvas. Patterns and labels tell series apart without colour. */
import { useComputedColorScheme } from '@mantine/core';
import { BarChart, LineChart } from 'echarts/charts';
import { AriaComponent, GridComponent, LegendComponent, TooltipComponent } from 'echarts/components';
import { type EChartsCoreOption, type EChartsType, init, use as register } from 'echarts/core';
import { CanvasRenderer } from 'echarts/renderers';
import { useEffect, useRef } from 'react';
import { momentGroup, type TileKind } from '../../../../src/lib/report-query.ts';
import type { Figures, Group } from './figures.ts';

register([BarChart, LineChart, GridComponent, TooltipComponent, LegendComponent, AriaComponent, CanvasRenderer]);

/** Colours of series, which differ in lightness too. */
const COLOURS = {
  light: ['#0b6b74', '#c75000', '#6a51a3', '#9a7400', '#2f6db5', '#a02c5d', '#4d7c0f', '#5d6670'],
  dark: ['#4fb3bb', '#ff9d5c', '#b7a3ea', '#e3c04b', '#7fb2f0', '#f08bb4', '#a3cf5f', '#aab4bf'],
};
const DASHES = ['solid', 'dashed', 'dotted'] as const;
const SYMBOLS = ['circle', 'rect', 'triangle', 'diamond'] as const;

/** Bars and series beyond these are left to the table. */
export const MAX_BARS = 12;
const MAX_SERIES = 8;

interface Series {
  name: string;
  /** A figure for each category. */
  data: (number | null)[];
}

interface Plot {
  /** For each category its name and the values of its group. */
  categories: { name: string; key: readonly unknown[] }[];
  series: Series[];
  measure: string;
}

/** The categories and series of a chart: with two groups, the second one makes the series. */
export function plotOf({ groups, report, measures }: Figures, kind: TileKind): Plot {
  const measure = report.measures[0] ?? 'count';
  const overTime = momentGroup(report.groupBy[0] ?? '') !== undefined;
  const most = kind === 'bars' && !overTime ? MAX_BARS : Number.POSITIVE_INFINITY;
  if (report.groupBy.length < 2) {
    const shown = groups.slice(0, most);
    const data = (index: number): (number | null)[] => shown.map(({ values }) => values[index] ?? null);
    return {
      categories: shown.map(({ names, key }) => ({ name: names[0] ?? '', key })),
      series: measures.map((name, index) => ({ name, data: data(index) })),
      measure,
    };
  }
  return crossed(groups, measure, most);
}

function crossed(groups: readonly Group[], measure: string, most: number): Plot {
  const categories = new Map<unknown, { name: string; key: readonly unknown[] }>();
  const totals = new Map<unknown, { name: string; total: number }>();
  for (const { key, names, values } of groups) {
    const [first, second] = key;
    if (!categories.has(first) && categories.size < most) categories.set(first, { name: names[0] ?? '', key: [first] });
    const total = totals.get(second)?.total ?? 0;
    totals.set(second, { name: names[1] ?? '', total: total + (values[0] ?? 0) });
  }
  const places = new Map([...categories.keys()].map((first, index) => [first, index]));
  const largest = [...totals].sort(([, a], [, b]) => b.total - a.total).slice(0, MAX_SERIES);
  const series = new Map(largest.map(([second, { name }]) => [second, { name, data: Array(places.size).fill(0) }]));
  for (const { key, values } of groups) {
    const place = places.get(key[0]);
    const one = series.get(key[1]);
    if (place !== undefined && one !== undefined) one.data[place] = values[0] ?? 0;
  }
  return { categories: [...categories.values()], series: [...series.values()], measure };
}

interface Look {
  text: string;
  dimmed: string;
  line: string;
  surface: string;
  font: string;
  scheme: 'light' | 'dark';
}

function lookOf(scheme: 'light' | 'dark'): Look {
  const style = getComputedStyle(document.documentElement);
  const of = (name: string): string => style.getPropertyValue(name).trim();
  return {
    text: of('--d-text'),
    dimmed: of('--mantine-color-dimmed'),
    line: of('--d-line'),
    surface: of('--d-surface'),
    font: of('--mantine-font-family'),
    scheme,
  };
}

function axes(plot: Plot, kind: TileKind, overTime: boolean, look: Look, format: (value: number) => string) {
  const label = { color: look.dimmed, fontSize: 11, fontFamily: look.font };
  const names = {
    type: 'category',
    data: plot.categories.map(({ name }) => name),
    axisLabel: overTime ? label : { ...label, color: look.text, width: 130, overflow: 'truncate' },
    axisLine: { lineStyle: { color: look.line } },
    axisTick: { show: false },
    boundaryGap: kind === 'bars',
    inverse: !overTime,
  };
  const values = {
    type: 'value',
    axisLabel: { ...label, formatter: format, hideOverlap: true },
    splitLine: { lineStyle: { color: look.line } },
    splitNumber: 3,
    ...(plot.measure === 'count' || plot.measure === 'reopened' ? { minInterval: 1 } : {}),
  };
  return overTime ? { xAxis: names, yAxis: values } : { xAxis: values, yAxis: names };
}

function seriesOf(plot: Plot, kind: TileKind, overTime: boolean, look: Look, format: (value: number) => string) {
  const stacked = kind === 'area' || plot.categories.some(({ key }) => key.length === 1 && plot.series.length > 1);
  const label = { color: look.text, fontSize: 11, fontFamily: look.font };
  return plot.series.map(({ name, data }, index) => {
    const common = { name, data, ...(stacked && kind !== 'line' ? { stack: 'all' } : {}) };
    if (kind === 'bars') {
      const direct = plot.series.length === 1 && !overTime;
      const said = {
        ...label,
        show: direct,
        position: 'right',
        formatter: ({ value }: { value: number }) => format(value),
      };
      return { ...common, type: 'bar', barMaxWidth: 22, label: said };
    }
    return {
      ...common,
      type: 'line',
      showSymbol: plot.categories.length < 20 || plot.series.length > 1,
      symbol: SYMBOLS[index % SYMBOLS.length],
      lineStyle: { width: 2, type: kind === 'line' ? DASHES[index % DASHES.length] : 'solid' },
      ...(kind === 'area' ? { areaStyle: { opacity: 0.6 } } : {}),
    };
  });
}

function optionOf(figures: Figures, kind: TileKind, look: Look): EChartsCoreOption {
  const plot = plotOf(figures, kind);
  const overTime = momentGroup(figures.report.groupBy[0] ?? '') !== undefined;
  const format = (value: number): string => figures.format(plot.measure, value);
  const several = plot.series.length > 1;
  return {
    animation: false,
    color: COLOURS[look.scheme],
    textStyle: { fontFamily: look.font },
    // Patterns on bars and areas.
    aria: { enabled: true, label: { enabled: false }, decal: { show: several && kind !== 'line' } },
    grid: { left: 4, right: overTime ? 12 : 44, top: several ? 32 : 10, bottom: 4, containLabel: true },
    legend: several ? { top: 0, left: 0, type: 'scroll', textStyle: { color: look.text, fontSize: 11 } } : undefined,
    tooltip: {
      trigger: 'axis',
      // Drawn on the canvas: the policy of the page forbids style attributes in HTML.
      renderMode: 'richText',
      confine: true,
      backgroundColor: look.surface,
      borderColor: look.line,
      textStyle: { color: look.text, fontSize: 12 },
      valueFormatter: (value: unknown) => (typeof value === 'number' ? format(value) : '—'),
    },
    ...axes(plot, kind, overTime, look, format),
    series: seriesOf(plot, kind, overTime, look, format),
  };
}

interface ChartProps {
  figures: Figures;
  kind: TileKind;
  onOpen: (key: readonly unknown[]) => void;
  /** Receives a function that gives the chart as a PNG data URL. */
  onImage: (image: () => string) => void;
}

export default function Chart({ figures, kind, onOpen, onImage }: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const chart = useRef<EChartsType>(undefined);
  const scheme = useComputedColorScheme('light');
  useEffect(() => {
    const element = place.current;
    if (element === null) return undefined;
    const made = init(element, null, { renderer: 'canvas' });
    chart.current = made;
    const observer = new ResizeObserver(() => made.resize());
    observer.observe(element);
    onImage(() =>
      made.getDataURL({
        pixelRatio: 2,
        backgroundColor: getComputedStyle(element).getPropertyValue('--d-surface').trim(),
      }),
    );
    return () => {
      observer.disconnect();
      made.dispose();
      chart.current = undefined;
    };
  }, [onImage]);
  useEffect(() => {
    const look = lookOf(scheme);
    const { categories } = plotOf(figures, kind);
    chart.current?.setOption(optionOf(figures, kind, look), { notMerge: true });
    chart.current?.off('click');
    chart.current?.on('click', ({ dataIndex }) => onOpen(categories[dataIndex]?.key ?? []));
  }, [figures, kind, scheme, onOpen]);
  return <div ref={place} style={{ width: '100%', height: '100%' }} aria-hidden="true" />;
}
