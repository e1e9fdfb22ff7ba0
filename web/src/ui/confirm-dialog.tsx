/** The dialog that asks for a confirmation. */
import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { useText } from '../i18n/text.ts';
import { texts } from './texts.ts';

/** z-index values: dialogs 200, dropdowns 300, notifications 500. */
const ABOVE_DIALOGS = 250;

export interface Question {
  title: string;
  /** The consequences, in a sentence or two. */
  body: ReactNode;
  /** Label of the confirm button. */
  yes: string;
  /** Must be typed to enable the button, for the most destructive actions. */
  word?: string;
  danger?: boolean;
  /** A wide dialog, for a body with tables. */
  wide?: boolean;
}

export interface ConfirmDialogProps {
  question: Question;
  onAnswer: (given: boolean) => void;
}

export function ConfirmDialog({ question, onAnswer }: ConfirmDialogProps) {
  return (
    <Modal
      opened
      centered
      zIndex={ABOVE_DIALOGS}
      title={question.title}
      size={question.wide === true ? 'xl' : 'md'}
      onClose={() => onAnswer(false)}
    >
      <Ask question={question} onAnswer={onAnswer} />
    </Modal>
  );
}

function Ask({ question, onAnswer }: ConfirmDialogProps) {
  const t = useText(texts);
  const [typed, setTyped] = useState('');
  const blocked = question.word !== undefined && typed.trim().toLowerCase() !== question.word.toLowerCase();
  return (
    <Stack gap="md">
      <Text size="sm" component="div">
        {question.body}
      </Text>
      {question.word !== undefined && (
        <TextInput
          label={t.typeToConfirm(question.word)}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          data-autofocus
        />
      )}
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={() => onAnswer(false)}>
          {t.cancel}
        </Button>
        <Button color={question.danger === true ? 'red.9' : 'petrol'} disabled={blocked} onClick={() => onAnswer(true)}>
          {question.yes}
        </Button>
      </Group>
    </Stack>
  );
}
