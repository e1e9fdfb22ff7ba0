/** The search field of the portal, and the results that it shares with the forms. */
import { TextInput } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Snippet } from '../desk/search/search-page.tsx';
import { StateBadge } from '../desk/record/state-badge.tsx';
import { useText } from '../i18n/text.ts';
import { useSearchWords } from '../ui/search-words.ts';
import classes from './portal.module.css';
import { type Help, useHelp } from './queries.ts';
import { texts } from './texts.ts';

/** Results of each kind that are shown. */
const SHOWN = 5;

export function HelpSearch() {
  const t = useText(texts);
  const [typed, setTyped] = useSearchWords();
  const help = useHelp(typed);
  const count = help.articles.length + help.items.length + help.requests.length;
  return (
    <search>
      <TextInput
        type="search"
        size="lg"
        aria-label={t.title}
        placeholder={t.search}
        leftSection={<IconSearch size={20} />}
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
      />
      <div aria-live="polite">
        {help.words !== '' && count === 0 && (
          <p className={classes.nothing}>
            {t.nothing} <ReportLink title={help.words}>{t.report}</ReportLink>
          </p>
        )}
        {count > 0 && <HelpResults help={help} label={t.results} />}
      </div>
    </search>
  );
}

/** A link to the form for problems, with a title. */
export function ReportLink({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Link to="/portal/$" params={{ _splat: 'report' }} search={{ title }}>
      {children}
    </Link>
  );
}

interface HelpResultsProps {
  help: Help;
  label: string;
}

export function HelpResults({ help, label }: HelpResultsProps) {
  const t = useText(texts);
  return (
    <ul className={classes.results} aria-label={label}>
      {help.articles.slice(0, SHOWN).map((hit) => (
        <Result key={hit.id} kind={t.article} to={`/portal/articles/${hit.id}`} title={hit.title ?? ''}>
          {hit.snippet !== null && <Snippet text={hit.snippet} />}
        </Result>
      ))}
      {help.items.slice(0, SHOWN).map((item) => (
        <Result key={item.id} kind={t.item} to={`/portal/items/${item.id}`} title={item.name}>
          {item.description}
        </Result>
      ))}
      {help.requests.slice(0, SHOWN).map((hit) => (
        <Result
          key={hit.id}
          kind={t.ownRequest}
          to={`/portal/requests/${hit.id}`}
          title={hit.title ?? hit.number ?? ''}
        >
          {hit.workflowState !== null && hit.workflowState !== undefined && <StateBadge state={hit.workflowState} />}
        </Result>
      ))}
    </ul>
  );
}

function Result(props: { kind: string; to: string; title: string; children: ReactNode }) {
  return (
    <li>
      <Link to={props.to} className={classes.card}>
        <small>{props.kind}</small>
        <strong>{props.title}</strong>
        <span className={classes.snippet}>{props.children}</span>
      </Link>
    </li>
  );
}
