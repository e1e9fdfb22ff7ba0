/** Confirmation of actions that cannot easily be undone. */
import { Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { modals } from '@mantine/modals';
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
}

/** @returns true if the user confirmed */
export function confirm(question: Question): Promise<boolean> {
  return new Promise((resolve) => {
    const answer = { given: false };
    const id = modals.open({
      title: question.title,
      // Above a dialog that asks for confirmation.
      zIndex: ABOVE_DIALOGS,
      onClose: () => resolve(answer.given),
      children: (
        <Ask
          question={question}
          close={(given) => {
            answer.given = given;
            modals.close(id);
          }}
        />
      ),
    });
  });
}

function Ask({ question, close }: { question: Question; close: (given: boolean) => void }) {
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
        <Button variant="default" onClick={() => close(false)}>
          {t.cancel}
        </Button>
        <Button color={question.danger === true ? 'red' : 'petrol'} disabled={blocked} onClick={() => close(true)}>
          {question.yes}
        </Button>
      </Group>
    </Stack>
  );
}
