/** Renders a rich text. Each node becomes one known element, so that a document cannot inject markup. */
import { Fragment, type ReactNode } from 'react';
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

export function RichText({ document, recordId }: { document: RichNode; recordId?: string | undefined }) {
  return <div className={classes.text}>{children(document, recordId)}</div>;
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
      return <Heading level={Number(node.attrs?.['level'])}>{inside}</Heading>;
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
function Heading({ level, children: inside }: { level: number; children: ReactNode }) {
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
