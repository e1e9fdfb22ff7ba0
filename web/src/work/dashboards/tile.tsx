/** A tile: one report as a number, a table or a chart, with its states, its downloads and the way to the records. */
import { ActionIcon, Anchor, Loader, Menu, Skeleton, Text, Title, VisuallyHidden } from '@mantine/core';
import { IconDots } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { lazy, type ReactNode, Suspense, useCallback, useMemo, useState } from 'react';
import { useText } from '../../i18n/text.ts';
import { saveCsv, saveFile } from '../../ui/download.tsx';
import { FaultAlert } from '../../ui/fault.tsx';
import classes from './dashboards.module.css';
import { type Figures, useFigures } from './figures.ts';
import { reportQuery, type Scope, scopedQuery, type Tile } from './queries.ts';
import { texts } from './texts.ts';

/** Gives a chart as a PNG data URL. */
type ImageMaker = () => string;

const Chart = lazy(() => import('./chart.tsx'));
const MAX_BARS = 12;

interface TileViewProps {
  tile: Tile;
  scope: Scope;
  /** The name of a field, by its code. */
  nameOf: (code: string) => string;
  /** Buttons that change the tile, while the dashboard is edited. */
  tools?: ReactNode;
}

export function TileView({ tile, scope, nameOf, tools }: TileViewProps) {
  const t = useText(texts);
  const query = useMemo(() => scopedQuery(tile.query, scope), [tile.query, scope]);
  const { data, error, isFetching, refetch } = useQuery(reportQuery(query));
  const figures = useFigures(query, data, nameOf);
  const [asTable, setAsTable] = useState(false);
  const [image, setImage] = useState<ImageMaker>();
  const onImage = useCallback((make: ImageMaker) => setImage(() => make), []);
  const isChart = tile.kind !== 'number' && tile.kind !== 'table';
  return (
    <section className={classes.tile} data-kind={tile.kind} data-width={tile.width} aria-label={tile.title}>
      <header className={classes.head}>
        <Title order={2} size="h3">
          {tile.title}
        </Title>
        {tools ?? (
          <TileMenu
            tile={tile}
            figures={figures}
            image={isChart && !asTable ? image : undefined}
            onTable={isChart ? () => setAsTable(!asTable) : undefined}
            asTable={asTable}
          />
        )}
      </header>
      <div className={classes.content}>
        {error !== null ? (
          <FaultAlert error={error} retry={() => void refetch()} />
        ) : figures === undefined ? (
          <Skeleton height={tile.kind === 'number' ? 40 : 180} aria-busy="true" />
        ) : (
          <Shown tile={tile} figures={figures} asTable={asTable} onImage={onImage} />
        )}
      </div>
      {isFetching && data !== undefined && <Loader size={12} pos="absolute" />}
      {figures?.report.complete === false && (
        <Text size="xs" c="dimmed">
          {t.incomplete}
        </Text>
      )}
    </section>
  );
}

interface ShownProps {
  tile: Tile;
  figures: Figures;
  asTable: boolean;
  onImage: (image: ImageMaker) => void;
}

function Shown({ tile, figures, asTable, onImage }: ShownProps) {
  const t = useText(texts);
  const navigate = useNavigate();
  const open = useCallback(
    (key: readonly unknown[]) => {
      void navigate({ to: '/records', search: figures.records(key) });
    },
    [figures, navigate],
  );
  if (tile.kind === 'number') return <Numbers figures={figures} />;
  if (figures.groups.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        {t.noData}
      </Text>
    );
  }
  const table = <FigureTable figures={figures} title={tile.title} />;
  if (tile.kind === 'table' || asTable) return <div className={classes.scroll}>{table}</div>;
  const more = tile.kind === 'bars' && figures.report.groupBy[0]?.includes('.') === false;
  const hidden = more ? new Set(figures.groups.map(({ key }) => key[0])).size - MAX_BARS : 0;
  return (
    <>
      <div className={classes.chart}>
        <Suspense fallback={<Skeleton height="100%" />}>
          <Chart figures={figures} kind={tile.kind} onOpen={open} onImage={onImage} />
        </Suspense>
      </div>
      {hidden > 0 && (
        <Text size="xs" c="dimmed">
          {t.moreGroups(hidden)}
        </Text>
      )}
      <VisuallyHidden>{table}</VisuallyHidden>
    </>
  );
}

/** A link to the records of a group. */
function Records({ figures, of, children }: { figures: Figures; of: readonly unknown[]; children: ReactNode }) {
  const search = figures.records(of);
  return (
    <Anchor c="inherit" inherit renderRoot={(props) => <Link to="/records" search={search} {...props} />}>
      {children}
    </Anchor>
  );
}

function Numbers({ figures }: { figures: Figures }) {
  const { report, groups, measures } = figures;
  const values = groups[0]?.values ?? [];
  const several = measures.length > 1;
  return report.measures.map((measure, index) => (
    <div key={measure}>
      {several && (
        <Text size="xs" c="dimmed">
          {measures[index]}
        </Text>
      )}
      <div className={classes.number}>
        <Records figures={figures} of={[]}>
          {figures.format(measure, values[index] ?? null)}
        </Records>
      </div>
    </div>
  ));
}

/** All groups with their figures: the tile itself, or what screen readers read behind a chart. */
function FigureTable({ figures, title }: { figures: Figures; title: string }) {
  const t = useText(texts);
  const { heads, measures, groups, report } = figures;
  return (
    <>
      <table className={classes.table}>
        <caption>
          <VisuallyHidden>{title}</VisuallyHidden>
        </caption>
        <thead>
          <tr>
            {heads.map((head) => (
              <th key={head} scope="col">
                {head}
              </th>
            ))}
            {measures.map((measure) => (
              <th key={measure} scope="col" className={classes.figure}>
                {measure}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {groups.map(({ key, names, values }) => (
            <tr key={JSON.stringify(key)}>
              {names.map((name, index) => (
                <td key={heads[index]}>
                  {index === 0 ? (
                    <Records figures={figures} of={key}>
                      {name}
                    </Records>
                  ) : (
                    name
                  )}
                </td>
              ))}
              {report.measures.map((measure, index) => (
                <td key={measure} className={classes.figure}>
                  {figures.format(measure, values[index] ?? null)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {report.truncated && (
        <Text size="xs" c="dimmed">
          {t.truncated}
        </Text>
      )}
    </>
  );
}

interface TileMenuProps {
  tile: Tile;
  figures: Figures | undefined;
  image: ImageMaker | undefined;
  onTable: (() => void) | undefined;
  asTable: boolean;
}

function TileMenu({ tile, figures, image, onTable, asTable }: TileMenuProps) {
  const t = useText(texts);
  if (figures === undefined) return null;
  const records = figures.records([]);
  const csv = (): void => {
    const rows = figures.groups.map(({ names, values }) => [...names, ...values]);
    saveCsv(tile.title, [...figures.heads, ...figures.measures], rows);
  };
  const png = (): void => {
    const [, base64 = ''] = (image?.() ?? '').split(',');
    const bytes = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
    saveFile(`${tile.title}.png`, new Blob([bytes], { type: 'image/png' }));
  };
  return (
    <Menu>
      <Menu.Target>
        <ActionIcon aria-label={t.tileMenu(tile.title)}>
          <IconDots size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item renderRoot={(props) => <Link to="/records" search={records} {...props} />}>
          {t.openRecords}
        </Menu.Item>
        {onTable !== undefined && <Menu.Item onClick={onTable}>{asTable ? t.asChart : t.asTable}</Menu.Item>}
        <Menu.Item onClick={csv}>{t.csv}</Menu.Item>
        {image !== undefined && <Menu.Item onClick={png}>{t.png}</Menu.Item>}
      </Menu.Dropdown>
    </Menu>
  );
}
