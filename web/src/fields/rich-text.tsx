/** Renders a rich text. Each node becomes one known element, so that a document cannot inject markup. */
import { createContext, Fragment, type ReactNode, use, useMemo } from 'react';
import { address } from '../api/client.ts';
import classes from './rich-text.module.css';

/** A document node in ProseMirror's JSON format. */
export interface RichNode {
  type: string;
  attrs?: Record<string, unknown>;
  content?: RichNode[];
  marks?: { type: string; attrs?: Record<string, unknown> }[];
  text?: string;
}

const HANDLE = /^blob:([0-9a-f]{64})$/;
const IMAGE_DATA = /^data:image\/(?:png|jpeg|gif|webp);base64,/;

/**
 * The URL of an image in a text; undefined if the source is not allowed. `recordId` is the id of the record, or the path of
 * another resource with images: `/kb/articles/…`.
 */
export function imageAddress(src: unknown, recordId: string | undefined): string | undefined {
  if (typeof src !== 'string') return undefined;
  const sha256 = HANDLE.exec(src)?.[1];
  const home = recordId?.startsWith('/') === true ? recordId : `/objects/${recordId}`;
  if (sha256 !== undefined && recordId !== undefined) return address(`${home}/images/${sha256}`);
  return IMAGE_DATA.test(src) ? src : undefined;
}

/** The link if its scheme is safe, else undefined. */
export function safeLink(href: unknown): string | undefined {
  return typeof href === 'string' && /^(?:https?:\/\/|mailto:|tel:)/i.test(href) ? href : undefined;
}

export interface DocumentHeading {
  /** The id of the element in the page. */
  id: string;
  text: string;
  /** 0 for the highest level in the document. */
  depth: number;
}

/** The headings of a document, in order. Empty ones are left out. */
export function headingsOf(document: RichNode): Map<RichNode, DocumentHeading> {
  const nodes: RichNode[] = [];
  const visit = (node: RichNode): void => {
    if (node.type === 'heading' && plainText(node).trim() !== '') nodes.push(node);
    for (const child of node.content ?? []) visit(child);
  };
  visit(document);
  const top = Math.min(...nodes.map(levelOf));
  return new Map(
    nodes.map((node, index) => [
      node,
      { id: `part-${index + 1}`, text: plainText(node).trim(), depth: levelOf(node) - top },
    ]),
  );
}

const levelOf = (node: RichNode): number => Number(node.attrs?.['level'] ?? 1);

const Headings = createContext<ReadonlyMap<RichNode, DocumentHeading> | undefined>(undefined);

interface RichTextProps {
  document: RichNode;
  recordId?: string | undefined;
  /** True for the main text of a page: its headings are those of the page, with ids for links to them. */
  main?: boolean;
}

export function RichText({ document, recordId, main = false }: RichTextProps) {
  const headings = useMemo(() => (main ? headingsOf(document) : undefined), [document, main]);
  return (
    <Headings value={headings}>
      <div className={classes.text} data-main={main || undefined}>
        {children(document, recordId)}
      </div>
    </Headings>
  );
}

function children(node: RichNode, recordId: string | undefined): ReactNode {
  // Text nodes have no id and are not reordered while shown.
  // oxlint-disable-next-line react/no-array-index-key
  return node.content?.map((child, index) => <Node key={index} node={child} recordId={recordId} />);
}

function Node({ node, recordId }: { node: RichNode; recordId: string | undefined }): ReactNode {
  const inside = children(node, recordId);
  switch (node.type) {
    case 'text':
      return marked(node);
    case 'paragraph':
      return <p>{inside}</p>;
    case 'heading':
      return <Heading node={node}>{inside}</Heading>;
    case 'blockquote':
      return <blockquote>{inside}</blockquote>;
    case 'codeBlock':
      return (
        <pre>
          <code>{inside}</code>
        </pre>
      );
    case 'bulletList':
      return <ul>{inside}</ul>;
    case 'orderedList':
      return <ol start={Number(node.attrs?.['start'] ?? 1)}>{inside}</ol>;
    case 'listItem':
      return <li>{inside}</li>;
    case 'horizontalRule':
      return <hr />;
    case 'hardBreak':
      return <br />;
    case 'image': {
      const src = imageAddress(node.attrs?.['src'], recordId);
      const alt = node.attrs?.['alt'];
      return src === undefined ? null : <img src={src} alt={typeof alt === 'string' ? alt : ''} loading="lazy" />;
    }
    case 'table':
      return (
        <table>
          <tbody>{inside}</tbody>
        </table>
      );
    case 'tableRow':
      return <tr>{inside}</tr>;
    case 'tableCell':
      return <td {...spans(node)}>{inside}</td>;
    case 'tableHeader':
      return <th {...spans(node)}>{inside}</th>;
    default:
      return <Fragment>{inside}</Fragment>;
  }
}

/** Headings in a text start below those of the page. */
function Heading({ node, children: inside }: { node: RichNode; children: ReactNode }) {
  const heading = use(Headings)?.get(node);
  if (heading !== undefined) {
    const Element = (['h2', 'h3', 'h4'] as const)[Math.min(heading.depth, 2)] ?? 'h4';
    return <Element id={heading.id}>{inside}</Element>;
  }
  const level = levelOf(node);
  if (level <= 1) return <h3>{inside}</h3>;
  return level === 2 ? <h4>{inside}</h4> : <h5>{inside}</h5>;
}

function spans(node: RichNode): { colSpan: number; rowSpan: number } {
  return { colSpan: Number(node.attrs?.['colspan'] ?? 1), rowSpan: Number(node.attrs?.['rowspan'] ?? 1) };
}

function marked(node: RichNode): ReactNode {
  let shown: ReactNode = node.text ?? '';
  for (const mark of node.marks ?? []) {
    if (mark.type === 'bold') shown = <strong>{shown}</strong>;
    else if (mark.type === 'italic') shown = <em>{shown}</em>;
    else if (mark.type === 'strike') shown = <s>{shown}</s>;
    else if (mark.type === 'underline') shown = <u>{shown}</u>;
    else if (mark.type === 'code') shown = <code>{shown}</code>;
    else if (mark.type === 'link') {
      const href = safeLink(mark.attrs?.['href']);
      if (href === undefined) continue;
      shown = (
        <a href={href} target="_blank" rel="noreferrer nofollow">
          {shown}
        </a>
      );
    }
  }
  return shown;
}

/** The plain text of a document. */
export function plainText(node: RichNode): string {
  if (node.type === 'text') return node.text ?? '';
  const inside = (node.content ?? []).map(plainText).join('');
  return ['paragraph', 'heading', 'listItem', 'codeBlock', 'hardBreak'].includes(node.type) ? `${inside}\n` : inside;
}
