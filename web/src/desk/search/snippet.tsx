/** A search snippet: escaped text with `<mark>` around matches. It is parsed as text, never inserted as HTML. */
import { Fragment } from 'react';

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'", '#x27': "'" };

function unescape(text: string): string {
  return text.replaceAll(/&(amp|lt|gt|quot|#39|#x27);/g, (whole, name: string) => ENTITIES[name] ?? whole);
}

/** Splits the snippet into parts and tells which are matches. */
export function piecesOf(snippet: string): { text: string; hit: boolean }[] {
  return snippet
    .split(/(<mark>.*?<\/mark>)/s)
    .filter((piece) => piece !== '')
    .map((piece) => {
      const hit = piece.startsWith('<mark>');
      return { hit, text: unescape(hit ? piece.slice('<mark>'.length, -'</mark>'.length) : piece) };
    });
}

export function Snippet({ text }: { text: string }) {
  return piecesOf(text).map((piece, index) =>
    // Parts have no id; only the index identifies them.
    piece.hit ? (
      // oxlint-disable-next-line react/no-array-index-key
      <mark key={index}>{piece.text}</mark>
    ) : (
      // oxlint-disable-next-line react/no-array-index-key
      <Fragment key={index}>{piece.text}</Fragment>
    ),
  );
}
