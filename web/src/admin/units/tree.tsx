/** The tree of units: each is a link, with a button to add a subunit. */
import { ActionIcon, Tooltip } from '@mantine/core';
import { IconBuilding, IconMapPin, IconPlus } from '@tabler/icons-react';
import { Link, useNavigate } from '@tanstack/react-router';
import { useText } from '../../i18n/text.ts';
import type { Column } from '../../ui/data-table.tsx';
import { useUsageColumns } from '../config/usage.tsx';
import { StateBadge } from '../users/parts.tsx';
import type { Unit } from '../users/queries.ts';
import { texts } from '../users/texts.ts';
import classes from './tree.module.css';
import { isArchived } from '../../../../src/contract/state.ts';

export function UnitTree({ units }: { units: readonly Unit[] }) {
  const t = useText(texts);
  const usage = useUsageColumns<Unit>('orgUnits');
  const known = new Set(units.map(({ id }) => id));
  // Units whose parent is not shown are at the top level.
  const below = Map.groupBy(units, ({ parentId }) => (parentId !== null && known.has(parentId) ? parentId : null));
  const top = below.get(null) ?? [];
  return top.length === 0 ? null : (
    <ul className={classes.tree} aria-label={t.units}>
      {top.map((unit) => (
        <Branch key={unit.id} unit={unit} below={below} usage={usage} />
      ))}
    </ul>
  );
}

interface BranchProps {
  unit: Unit;
  below: ReadonlyMap<string | null, readonly Unit[]>;
  /** What uses the unit, and its last change. */
  usage: readonly Column<Unit>[];
}

function Branch({ unit, below, usage }: BranchProps) {
  const t = useText(texts);
  const navigate = useNavigate();
  const inside = below.get(unit.id) ?? [];
  return (
    <li>
      <div className={classes.line}>
        <Link to="/admin/$" params={{ _splat: `units/${unit.id}` }} className={classes.unit}>
          <IconBuilding size={16} stroke={1.6} />
          <span>{unit.name}</span>
          <code>{unit.code}</code>
        </Link>
        {unit.location !== null && (
          <span className={classes.place}>
            <IconMapPin size={12} /> {unit.location}
          </span>
        )}
        <span className={classes.usage}>
          {usage.map(({ key, title, render }) => (
            <span key={key} title={title}>
              {render?.(unit)}
            </span>
          ))}
        </span>
        {isArchived(unit) ? (
          <StateBadge state={unit.state} />
        ) : (
          <Tooltip label={t.newBelow(unit.name)}>
            <ActionIcon
              aria-label={t.newBelow(unit.name)}
              onClick={() => void navigate({ to: '/admin/$', params: { _splat: `units/new/${unit.id}` } })}
            >
              <IconPlus size={14} />
            </ActionIcon>
          </Tooltip>
        )}
      </div>
      {inside.length > 0 && (
        <ul>
          {inside.map((one) => (
            <Branch key={one.id} unit={one} below={below} usage={usage} />
          ))}
        </ul>
      )}
    </li>
  );
}
