import { RichText, type RichNode } from '../../fields/rich-text.tsx';

/** Base path of an article's images. */
export function imagesOf(articleId: string): string {
  return `/kb/articles/${articleId}`;
}

/** The text of an article. */
export function ArticleText({ document, articleId }: { document: unknown; articleId: string }) {
  return <RichText document={document as RichNode} recordId={imagesOf(articleId)} />;
}
