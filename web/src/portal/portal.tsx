/** The pages of the portal, by path. */
import { useNavigate, useParams } from '@tanstack/react-router';
import { NotFoundPage } from '../app/error-pages.tsx';
import { useText } from '../i18n/text.ts';
import { Page } from '../ui/page.tsx';
import { ArticlePage, Articles } from '../work/knowledge/articles.tsx';
import { ArticleFooter } from './article-footer.tsx';
import { HomePage } from './home.tsx';
import { OwnRequestPage } from './own-request.tsx';
import { ItemPage, ReportPage } from './report.tsx';
import { RequestsPage } from './requests.tsx';
import { texts } from './texts.ts';

export function Portal() {
  const { _splat = '' } = useParams({ from: '/inside/portal/$' });
  const [first, id] = _splat.split('/').filter((segment) => segment !== '');
  if (first === undefined) return <HomePage />;
  if (first === 'report' && id === undefined) return <ReportPage />;
  if (first === 'requests') return id === undefined ? <RequestsPage /> : <OwnRequestPage key={id} id={id} />;
  if (first === 'items' && id !== undefined) return <ItemPage key={id} id={id} />;
  if (first === 'articles') return id === undefined ? <ArticlesPage /> : <ArticleView key={id} id={id} />;
  return <NotFoundPage />;
}

function ArticleView({ id }: { id: string }) {
  return (
    <>
      <ArticlePage id={id} home="/portal/articles" />
      <ArticleFooter id={id} />
    </>
  );
}

function ArticlesPage() {
  const t = useText(texts);
  const navigate = useNavigate();
  return (
    <Page title={t.knowledge} narrow>
      <Articles onOpen={(one) => void navigate({ to: '/portal/$', params: { _splat: `articles/${one.id}` } })} />
    </Page>
  );
}
