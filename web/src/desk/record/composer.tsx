/** Writes a comment: Markdown with buttons and a preview, the visibility, files, and a draft on this device. */
import { ActionIcon, Button, FileButton, Group, SegmentedControl, Text, Textarea } from '@mantine/core';
import { type HotkeyItem, useHotkeys } from '@mantine/hooks';
import {
  IconBold,
  IconCode,
  IconItalic,
  IconLink,
  IconList,
  IconListNumbers,
  IconPaperclip,
  IconQuote,
} from '@tabler/icons-react';
import { type KeyboardEvent, type ReactNode, type RefObject, useImperativeHandle, useRef, useState } from 'react';
import { type CommentVisibility, seenVisibilities } from '../../../../src/contract/comment-visibility.ts';
import type { RecordAction } from '../../../../src/contract/rights.ts';
import { texts as fieldTexts } from '../../fields/texts.ts';
import { useLanguage } from '../../i18n/language.ts';
import { useText } from '../../i18n/text.ts';
import type { DeviceDraft } from '../../ui/device-draft.ts';
import { FaultAlert } from '../../ui/fault.tsx';
import { DraftRestored } from '../../ui/form.tsx';
import { Markdown } from '../../ui/markdown.tsx';
import { VISIBILITY_VIEWS } from '../comment-visibility.tsx';
import { texts } from '../texts.ts';
import classes from './comments.module.css';
import { DropZone } from './files-upload.tsx';
import { fileTexts } from './file-texts.ts';
import { type ReplyFiles, ReplyFileList } from './reply-files.tsx';
import { type Mentions, useMentions } from './mentions.tsx';

export interface Written {
  body: string;
  visibility: CommentVisibility;
}

/** Writes a text into the composer, after the user's own if there is one, and moves the focus to it. */
export interface ComposerHandle {
  prepare: (text: Partial<Written>) => void;
}

interface ComposerProps {
  draft: DeviceDraft<Written>;
  /** True for the composer that the keys C, R and N focus. */
  hotkeys?: boolean;
  /** The files that are sent with the comment; undefined if the user may add none. */
  files?: ReplyFiles | undefined;
  can: (action: RecordAction) => boolean;
  initial: string;
  visibility: CommentVisibility;
  label: string;
  pending: boolean;
  error: unknown;
  /** Id of the record whose readers can be mentioned; without it nobody is offered. */
  mentions?: string | undefined;
  /** Buttons after those of the text. */
  tools?: ReactNode;
  /** Shown below the text. */
  below?: ReactNode;
  /** Lets the owner write into the composer. */
  handle?: RefObject<ComposerHandle | null>;
  /** True if it can be sent without a text. */
  emptyAllowed?: boolean;
  /** Replaces the text of the button that sends. */
  sendText?: string | undefined;
  onSend: (body: string, visibility: CommentVisibility) => void;
  onCancel?: () => void;
  /** Called when the user discards what is written. */
  onDiscard?: () => void;
}

export function Composer(props: ComposerProps) {
  const t = useText(texts);
  const language = useLanguage();
  const input = useRef<HTMLTextAreaElement>(null);
  const [preview, setPreview] = useState(false);
  const choices = seenVisibilities(props.can);
  const { body, visibility, restored, change, discard } = useWritten(props);
  const { files } = props;
  const withoutText = props.emptyAllowed === true || (files?.drafts.length ?? 0) > 0;
  const ready = (isReady(body) || (withoutText && body.trim() === '')) && files?.problem === undefined;
  const mentions = useMentions(props.mentions, input, (next) => change({ body: next }));
  const send = (): void => (ready && !props.pending ? props.onSend(body, visibility) : undefined);
  const fill = (part: Partial<Written>): void => {
    change(part);
    setPreview(false);
    // At once, so that the next key is typed here; and again when the preview or a dialog has gone.
    input.current?.focus();
    setTimeout(() => input.current?.focus(), 0);
  };
  usePrepare(props.handle, body, fill);
  useComposerKeys(props.hotkeys === true ? choices : [], (next) =>
    fill(next === undefined ? {} : { visibility: next }),
  );
  return (
    <Frame visibility={visibility} files={files}>
      <Group gap="xs" justify="space-between">
        <VisibilityChoice choices={choices} visibility={visibility} onChange={(next) => fill({ visibility: next })} />
        <MarkdownTools input={input} body={body} onChange={(next) => change({ body: next })} files={files}>
          {props.tools}
        </MarkdownTools>
      </Group>
      {restored && <DraftRestored onDiscard={discard} />}
      {preview ? (
        <Preview body={body} />
      ) : (
        <ComposerText
          input={input}
          label={props.label}
          placeholder={choices.length > 1 ? VISIBILITY_VIEWS[visibility].placeholder[language] : t.writeOwn}
          body={body}
          change={(next) => change({ body: next })}
          mentions={mentions}
          send={send}
        />
      )}
      {mentions.list}
      {files !== undefined && <ReplyFileList files={files} />}
      {props.below}
      {props.error !== null && props.error !== undefined && <FaultAlert error={props.error} />}
      <ComposerFoot
        {...props}
        visibility={visibility}
        ready={ready}
        preview={preview}
        previewable={body.trim() !== ''}
        setPreview={setPreview}
        send={send}
        discard={discard}
      />
    </Frame>
  );
}

interface FrameProps {
  visibility: CommentVisibility;
  files: ReplyFiles | undefined;
  children: ReactNode;
}

/** The border of the composer; files that are dropped or pasted inside belong to the comment. */
function Frame({ visibility, files, children }: FrameProps) {
  const t = useText(fileTexts);
  return (
    <div className={classes.composer} data-visibility={visibility}>
      <DropZone
        enabled={files !== undefined}
        onFiles={(added) => files?.upload.add(added)}
        className={classes.zone}
        label={t.dropReply}
      >
        {children}
      </DropZone>
    </div>
  );
}

interface ComposerTextProps {
  input: RefObject<HTMLTextAreaElement | null>;
  label: string;
  placeholder: string;
  body: string;
  change: (body: string) => void;
  mentions: Mentions;
  send: () => void;
}

function ComposerText({ input, label, placeholder, body, change, mentions, send }: ComposerTextProps) {
  const keys = (event: KeyboardEvent): void => {
    if (mentions.key(event)) return;
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) send();
    // The next Escape and the keys of the page work again.
    if (event.key === 'Escape') input.current?.blur();
  };
  return (
    <Textarea
      ref={input}
      aria-label={label}
      placeholder={placeholder}
      value={body}
      onChange={(event) => {
        change(event.currentTarget.value);
        mentions.look();
      }}
      // Also while the cursor moves with the keyboard.
      onSelect={mentions.look}
      onKeyDown={keys}
      {...mentions.aria}
      rows={2}
      variant="unstyled"
      size="sm"
    />
  );
}

const isReady = (body: string): boolean => body.trim() !== '' && body.length <= 100_000;

interface ComposerFootProps extends Pick<ComposerProps, 'pending' | 'onCancel' | 'visibility' | 'sendText' | 'files'> {
  ready: boolean;
  preview: boolean;
  previewable: boolean;
  setPreview: (preview: boolean) => void;
  send: () => void;
  discard: () => void;
}

/** The preview and the buttons that send and cancel. */
function ComposerFoot({ visibility, preview, discard, onCancel, ...props }: ComposerFootProps) {
  const t = useText(texts);
  const language = useLanguage();
  const view = VISIBILITY_VIEWS[visibility];
  const cancel = (): void => {
    discard();
    onCancel?.();
  };
  return (
    <Group justify="space-between" gap="xs">
      <Button
        variant="subtle"
        color="gray"
        size="compact-sm"
        aria-pressed={preview}
        disabled={!props.previewable && !preview}
        onClick={() => props.setPreview(!preview)}
      >
        {preview ? t.backToText : t.preview}
      </Button>
      <Text size="xs" c="dimmed" role="status" className={classes.wait}>
        {props.files?.problem}
      </Text>
      <Group gap="xs">
        {onCancel !== undefined && (
          <Button variant="default" onClick={cancel}>
            {t.cancel}
          </Button>
        )}
        <Button
          onClick={props.send}
          loading={props.pending}
          disabled={!props.ready}
          color={view.color}
          autoContrast
          title="Ctrl+Enter"
        >
          {props.sendText ?? (onCancel === undefined ? view.send[language] : t.save)}
        </Button>
      </Group>
    </Group>
  );
}

function Preview({ body }: { body: string }) {
  const t = useText(texts);
  return (
    <section className={classes.preview} aria-label={t.preview}>
      <Markdown source={body} mentions={{ me: undefined }} />
    </section>
  );
}

interface VisibilityChoiceProps {
  choices: readonly CommentVisibility[];
  visibility: CommentVisibility;
  onChange: (visibility: CommentVisibility) => void;
}

function VisibilityChoice({ choices, visibility, onChange }: VisibilityChoiceProps) {
  const t = useText(texts);
  const language = useLanguage();
  if (choices.length < 2) return null;
  return (
    <SegmentedControl
      aria-label={t.visibility}
      value={visibility}
      onChange={(value) => onChange(value as CommentVisibility)}
      data={choices.map((value) => ({ value, label: VISIBILITY_VIEWS[value].label[language] }))}
    />
  );
}

/** Lets the owner prepare a text. What the user wrote stays, with its visibility; an unchanged prepared text is replaced. */
function usePrepare(handle: ComposerProps['handle'], body: string, fill: (part: Partial<Written>) => void): void {
  const prepared = useRef<string>(undefined);
  useImperativeHandle(handle, () => ({
    prepare: (text) => {
      if (body.trim() === '' || body === prepared.current) {
        prepared.current = text.body ?? prepared.current;
        fill(text);
      } else {
        fill(text.body === undefined ? {} : { body: `${body.trimEnd()}\n\n${text.body}` });
      }
    },
  }));
}

/** What is written, with its draft. */
function useWritten(props: Pick<ComposerProps, 'draft' | 'initial' | 'visibility' | 'onDiscard'>) {
  const { draft, initial, visibility } = props;
  const start = { body: initial, visibility };
  const [kept] = useState(draft.read);
  const [written, setWritten] = useState<Written>(kept ?? start);
  const [restored, setRestored] = useState(kept !== undefined);
  const change = (part: Partial<Written>): void => {
    const next = { ...written, ...part };
    setWritten(next);
    draft.keep(next.body === initial || next.body.trim() === '' ? undefined : next);
  };
  const discard = (): void => {
    setWritten(start);
    setRestored(false);
    draft.keep(undefined);
    props.onDiscard?.();
  };
  return { ...written, restored, change, discard };
}

/** C focuses the composer; each visibility has a key too. By place on the keyboard, so that they work with any layout. */
function useComposerKeys(choices: readonly CommentVisibility[], focus: (visibility?: CommentVisibility) => void): void {
  const options = { usePhysicalKeys: true };
  useHotkeys(
    choices.length === 0
      ? []
      : [
          ['C', () => focus(), options],
          ...choices.map((one): HotkeyItem => [VISIBILITY_VIEWS[one].key, () => focus(one), options]),
        ],
  );
}

/** Marks around or before the selected text. */
const MARKS = [
  { name: 'bold', icon: IconBold, before: '**', after: '**' },
  { name: 'italic', icon: IconItalic, before: '_', after: '_' },
  { name: 'code', icon: IconCode, before: '`', after: '`' },
  { name: 'link', icon: IconLink, before: '[', after: '](https://)' },
  { name: 'quote', icon: IconQuote, before: '> ', after: '' },
  { name: 'bullets', icon: IconList, before: '- ', after: '' },
  { name: 'numbers', icon: IconListNumbers, before: '1. ', after: '' },
] as const;

interface MarkdownToolsProps {
  input: RefObject<HTMLTextAreaElement | null>;
  body: string;
  onChange: (body: string) => void;
  files: ReplyFiles | undefined;
  children: ReactNode;
}

function MarkdownTools({ input, body, onChange, files, children }: MarkdownToolsProps) {
  const t = useText(fieldTexts);
  const desk = useText(texts);
  const mark = ({ before, after }: (typeof MARKS)[number]): void => {
    const { selectionStart: from, selectionEnd: to } = input.current ?? { selectionStart: 0, selectionEnd: 0 };
    const lines = after === '';
    const start = lines ? body.lastIndexOf('\n', from - 1) + 1 : from;
    const chosen = body.slice(start, to);
    const marked = lines ? before + chosen.replaceAll('\n', `\n${before}`) : before + chosen + after;
    onChange(body.slice(0, start) + marked + body.slice(to));
    const cursor = start + (lines ? marked.length : before.length + chosen.length);
    setTimeout(() => {
      input.current?.focus();
      input.current?.setSelectionRange(cursor, cursor);
    }, 0);
  };
  return (
    <Group gap={2} role="toolbar" aria-label={desk.markdown}>
      {MARKS.map((one) => (
        <ActionIcon
          key={one.name}
          size="sm"
          tabIndex={-1}
          aria-label={t[one.name]}
          title={t[one.name]}
          onClick={() => mark(one)}
        >
          <one.icon size={14} />
        </ActionIcon>
      ))}
      {files !== undefined && (
        <FileButton onChange={files.upload.add} multiple>
          {(props) => (
            <ActionIcon {...props} size="sm" aria-label={desk.addFiles} title={desk.addFiles}>
              <IconPaperclip size={14} />
            </ActionIcon>
          )}
        </FileButton>
      )}
      {children}
    </Group>
  );
}
