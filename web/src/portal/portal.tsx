/** The pages of the portal, by path. */
import { useParams } from '@tanstack/react-router';
import { NotFoundPage } from '../app/error-pages.tsx';
import { useText } from '../i18n/text.ts';
import { Page } from '../ui/page.tsx';
import { ArticlePage } from '../work/knowledge/articles.tsx';
import { KnowledgeBrowser } from '../work/knowledge/browser.tsx';
import { ReportLink } from './help-search.tsx';
import { HomePage } from './home.tsx';
import { OwnRequestPage } from './own-request.tsx';
import { ItemPage, ReportPage } from './report.tsx';
import { RequestsPage } from './requests.tsx';
import classes from './portal.module.css';
import { texts } from './texts.ts';

export function Portal() {
  const { _splat = '' } = useParams({ from: '/inside/portal/$' });
  const [first, id] = _splat.split('/').filter((segment) => segment !== '');
  if (first === undefined) return <HomePage />;
  if (first === 'report' && id === undefined) return <ReportPage />;
  if (first === 'requests') return id === undefined ? <RequestsPage /> : <OwnRequestPage key={id} id={id} />;
  if (first === 'items' && id !== undefined) return <ItemPage key={id} id={id} />;
  if (first === 'sections' && id !== undefined) return <ArticlesPage sectionId={id} />;
  if (first === 'articles') return id === undefined ? <ArticlesPage /> : <ArticleView key={id} id={id} />;
  return <NotFoundPage />;
}

function ArticleView({ id }: { id: string }) {
  const t = useText(texts);
  return (
    <div className={classes.wide}>
      <ArticlePage id={id} root="/portal" otherwise={(title) => <ReportLink title={title}>{t.report}</ReportLink>} />
    </div>
  );
}

function ArticlesPage({ sectionId }: { sectionId?: string }) {
  const t = useText(texts);
  return (
    <div className={classes.wide}>
      <Page title={t.knowledge}>
        <KnowledgeBrowser
          key={sectionId ?? ''}
          root="/portal"
          sectionId={sectionId}
          otherwise={(words) => <ReportLink title={words}>{t.report}</ReportLink>}
        />
      </Page>
    </div>
  );
}
