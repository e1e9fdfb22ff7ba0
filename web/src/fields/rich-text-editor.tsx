/** The rich text editor, loaded on demand. Reads and writes documents in their stored format. */
import { ActionIcon, Input } from '@mantine/core';
import {
  IconArrowBackUp,
  IconBlockquote,
  IconBold,
  IconCode,
  IconH2,
  IconItalic,
  IconLink,
  IconList,
  IconListNumbers,
  IconPhoto,
  IconStrikethrough,
} from '@tabler/icons-react';
import { notify } from '../ui/notify.tsx';
import Image from '@tiptap/extension-image';
import { type Editor, EditorContent, mergeAttributes, Node, useEditor, useEditorState } from '@tiptap/react';
import StarterKit from '@tiptap/starter-kit';
import { useId, useMemo, useRef } from 'react';
import { useText } from '../i18n/text.ts';
import { imageAddress, type RichNode, safeLink } from './rich-text.tsx';
import classes from './rich-text.module.css';
import { texts } from './texts.ts';

const IMAGE_BYTES = 2_097_152;
const IMAGE_TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];

/** The schema includes tables, so that editing a text never loses them. Tables are shown and their cells can be edited. */
const span = { default: 1 };
const cell = {
  content: 'block+',
  addAttributes: () => ({ colspan: span, rowspan: span, colwidth: { default: null } }),
};
const TABLES = [
  Node.create({
    name: 'table',
    group: 'block',
    content: 'tableRow+',
    isolating: true,
    parseHTML: () => [{ tag: 'table' }],
    renderHTML: () => ['table', ['tbody', 0]],
  }),
  Node.create({
    name: 'tableRow',
    content: '(tableCell | tableHeader)+',
    parseHTML: () => [{ tag: 'tr' }],
    renderHTML: () => ['tr', 0],
  }),
  Node.create({
    ...cell,
    name: 'tableCell',
    isolating: true,
    parseHTML: () => [{ tag: 'td' }],
    renderHTML: ({ HTMLAttributes }) => ['td', HTMLAttributes, 0],
  }),
  Node.create({
    ...cell,
    name: 'tableHeader',
    isolating: true,
    parseHTML: () => [{ tag: 'th' }],
    renderHTML: ({ HTMLAttributes }) => ['th', HTMLAttributes, 0],
  }),
];

/** Images keep their handle in the document; their URL is used only for display. */
function storedImages(recordId: string | undefined) {
  return Image.extend({
    addAttributes() {
      return {
        ...this.parent?.(),
        src: {
          default: null,
          parseHTML: (element: HTMLElement) => element.getAttribute('data-src') ?? element.getAttribute('src'),
        },
      };
    },
    renderHTML({ HTMLAttributes }) {
      const { src, ...rest } = HTMLAttributes as { src?: unknown };
      return ['img', mergeAttributes(rest, { 'data-src': src, src: imageAddress(src, recordId) ?? '' })];
    },
  }).configure({ allowBase64: true });
}

export interface RichTextEditorProps {
  value: RichNode | null;
  onChange: (value: RichNode | null) => void;
  label?: string | undefined;
  description?: string | undefined;
  required?: boolean | undefined;
  error?: string | undefined;
  recordId?: string | undefined;
  autoFocus?: boolean | undefined;
}

export default function RichTextEditor(props: RichTextEditorProps) {
  const t = useText(texts);
  const id = useId();
  const { recordId } = props;
  const extensions = useMemo(
    () => [
      StarterKit.configure({ link: { openOnClick: false, isAllowedUri: (uri) => safeLink(uri) !== undefined } }),
      storedImages(recordId),
      ...TABLES,
    ],
    [recordId],
  );
  const editor = useEditor({
    extensions,
    content: props.value,
    // The styles are in our style sheets; the Content-Security-Policy allows no others.
    injectCSS: false,
    autofocus: props.autoFocus === true ? 'end' : false,
    onUpdate: ({ editor: changed }) => props.onChange(changed.isEmpty ? null : (changed.getJSON() as RichNode)),
    editorProps: {
      attributes: {
        role: 'textbox',
        'aria-multiline': 'true',
        'aria-label': props.label ?? t.editor,
        ...(props.required === true ? { 'aria-required': 'true' } : {}),
        ...(props.error === undefined ? {} : { 'aria-describedby': `${id}-error` }),
      },
      handlePaste: (_view, event) => addImages(event.clipboardData?.files),
      handleDrop: (_view, event) => addImages((event as DragEvent).dataTransfer?.files),
    },
  });
  const addImages = (files: FileList | undefined | null): boolean => {
    const images = [...(files ?? [])].filter((file) => file.type.startsWith('image/'));
    for (const file of images) void addImage(editor, file, t.imageTooLarge);
    return images.length > 0;
  };
  return (
    <Input.Wrapper
      label={props.label}
      description={props.description}
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      required={props.required ?? false}
      labelElement="div"
      size="xs"
    >
      <div className={classes.editor} data-error={props.error !== undefined || undefined}>
        <Tools editor={editor} onImages={addImages} />
        <EditorContent editor={editor} className={`${classes.text} ${classes.area}`} />
      </div>
      {props.error !== undefined && (
        <Input.Error id={`${id}-error`} mt={4}>
          {props.error}
        </Input.Error>
      )}
    </Input.Wrapper>
  );
}

async function addImage(editor: Editor, file: File, refusal: string): Promise<void> {
  if (!IMAGE_TYPES.includes(file.type) || file.size > IMAGE_BYTES) {
    notify({ message: refusal, color: 'red' });
    return;
  }
  const src = await new Promise<string>((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener('load', () => resolve(String(reader.result)));
    reader.addEventListener('error', () => reject(new Error('the picture could not be read')));
    reader.readAsDataURL(file);
  });
  editor.chain().focus().setImage({ src, alt: file.name }).run();
}

/** Which marks and blocks the selection is in. */
function useActiveMarks(editor: Editor) {
  return useEditorState({
    editor,
    selector: ({ editor: now }) => ({
      bold: now.isActive('bold'),
      italic: now.isActive('italic'),
      strike: now.isActive('strike'),
      code: now.isActive('code'),
      heading: now.isActive('heading'),
      bullets: now.isActive('bulletList'),
      numbers: now.isActive('orderedList'),
      quote: now.isActive('blockquote'),
      link: now.isActive('link'),
    }),
  });
}

function Tools({ editor, onImages }: { editor: Editor; onImages: (files: FileList | null) => boolean }) {
  const t = useText(texts);
  const files = useRef<HTMLInputElement>(null);
  const active = useActiveMarks(editor);
  const run = () => editor.chain().focus();
  const setLink = (): void => {
    const before = editor.getAttributes('link')['href'] as string | undefined;
    // oxlint-disable-next-line eslint/no-alert -- the browser's own question keeps the selection as it is
    const href = window.prompt(t.linkAddress, before ?? 'https://');
    if (href === null) return;
    if (href === '') run().unsetLink().run();
    else if (safeLink(href) !== undefined) run().setLink({ href }).run();
  };
  const tools = [
    { name: t.bold, icon: IconBold, on: active.bold, act: () => run().toggleBold().run() },
    { name: t.italic, icon: IconItalic, on: active.italic, act: () => run().toggleItalic().run() },
    { name: t.strike, icon: IconStrikethrough, on: active.strike, act: () => run().toggleStrike().run() },
    { name: t.code, icon: IconCode, on: active.code, act: () => run().toggleCode().run() },
    { name: t.heading, icon: IconH2, on: active.heading, act: () => run().toggleHeading({ level: 2 }).run() },
    { name: t.bullets, icon: IconList, on: active.bullets, act: () => run().toggleBulletList().run() },
    { name: t.numbers, icon: IconListNumbers, on: active.numbers, act: () => run().toggleOrderedList().run() },
    { name: t.quote, icon: IconBlockquote, on: active.quote, act: () => run().toggleBlockquote().run() },
    { name: t.link, icon: IconLink, on: active.link, act: setLink },
    { name: t.image, icon: IconPhoto, on: false, act: () => files.current?.click() },
    { name: t.undo, icon: IconArrowBackUp, on: false, act: () => run().undo().run() },
  ];
  return (
    <div className={classes.tools} role="toolbar" aria-label={t.editor}>
      {tools.map(({ name, icon: Icon, on, act }) => (
        <ActionIcon
          key={name}
          size={26}
          variant={on ? 'light' : 'subtle'}
          color={on ? 'petrol' : 'gray'}
          aria-label={name}
          title={name}
          aria-pressed={on}
          onMouseDown={(event) => event.preventDefault()}
          onClick={act}
        >
          <Icon size={15} stroke={1.7} />
        </ActionIcon>
      ))}
      <input
        ref={files}
        type="file"
        accept={IMAGE_TYPES.join(',')}
        hidden
        aria-hidden="true"
        tabIndex={-1}
        onChange={(event) => onImages(event.currentTarget.files)}
      />
    </div>
  );
}
