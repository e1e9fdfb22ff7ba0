/** Growth as a plot: milliseconds by number of records, both axes by powers of ten. */

export interface Line {
  name: string;
  points: readonly { records: number; ms: number }[];
}

const WIDTH = 780;
const HEIGHT = 440;
const LEFT = 60;
const RIGHT = 250;
const TOP = 20;
const BOTTOM = 50;
const COLOURS = ['#1b6ca8', '#c0392b', '#27825a', '#8e44ad', '#b9770e', '#16808a', '#7f8c8d', '#2c3e50'];

const log = (value: number): number => Math.log10(Math.max(value, 0.1));
const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

export function plot(title: string, lines: readonly Line[]): string {
  const all = lines.flatMap(({ points }) => points);
  const [first, last] = [Math.min, Math.max].map((of) => log(of(...all.map(({ records }) => records)))) as [
    number,
    number,
  ];
  const low = Math.floor(log(Math.min(...all.map(({ ms }) => ms))));
  const high = Math.ceil(log(Math.max(...all.map(({ ms }) => ms))));
  const x = (records: number): number =>
    LEFT + ((log(records) - first) / Math.max(1e-9, last - first)) * (WIDTH - LEFT - RIGHT);
  const y = (ms: number): number =>
    HEIGHT - BOTTOM - ((log(ms) - low) / Math.max(1, high - low)) * (HEIGHT - TOP - BOTTOM);
  const parts: string[] = [];
  for (let power = low; power <= high; power++) {
    const at = y(10 ** power).toFixed(1);
    parts.push(`<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${at}" y2="${at}" stroke="#ddd"/>`);
    parts.push(`<text x="${LEFT - 8}" y="${at}" dy="4" text-anchor="end">${10 ** power} ms</text>`);
  }
  for (const records of new Set(all.map((point) => point.records))) {
    const at = x(records).toFixed(1);
    parts.push(`<line x1="${at}" x2="${at}" y1="${TOP}" y2="${HEIGHT - BOTTOM}" stroke="#eee"/>`);
    parts.push(
      `<text x="${at}" y="${HEIGHT - BOTTOM + 18}" text-anchor="middle">${records.toLocaleString('en')}</text>`,
    );
  }
  // Names are moved apart where lines end side by side.
  const ends = lines
    .map((line, index) => ({ line, index, at: y(line.points.at(-1)?.ms ?? 1) }))
    .sort((a, b) => a.at - b.at);
  let before = 0;
  for (const { line, index, at } of ends) {
    const colour = COLOURS[index % COLOURS.length];
    const dashed = index >= COLOURS.length ? ' stroke-dasharray="5 3"' : '';
    const points = line.points.map(({ records, ms }) => `${x(records).toFixed(1)},${y(ms).toFixed(1)}`).join(' ');
    parts.push(`<polyline points="${points}" fill="none" stroke="${colour}" stroke-width="2"${dashed}/>`);
    before = Math.max(at, before + 14);
    parts.push(
      `<text x="${WIDTH - RIGHT + 8}" y="${before.toFixed(1)}" dy="4" fill="${colour}">${escaped(line.name)}</text>`,
    );
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12" role="img" aria-label="${escaped(title)}">
<title>${escaped(title)}</title>
<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>
${parts.join('\n')}
<text x="${(LEFT + WIDTH - RIGHT) / 2}" y="${HEIGHT - 10}" text-anchor="middle">records</text>
</svg>
`;
}
