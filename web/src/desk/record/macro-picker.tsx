/** Chooses a macro for a record: search, list with keyboard, and a preview of its text and changes. */
import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { FieldSchema } from '../../api/types.ts';
import { useText } from '../../i18n/text.ts';
import { FaultAlert } from '../../ui/fault.tsx';
import { Markdown } from '../../ui/markdown.tsx';
import { hasWords, OptionList } from '../../ui/option-list.tsx';
import { type Macro, macrosQuery } from '../queries.ts';
import { actionTexts } from './action-texts.ts';
import { MacroChanges } from './chosen-macro.tsx';
import classes from './macros.module.css';
import { Dialog } from '../../ui/dialog.tsx';

interface MacroPickerProps {
  recordId: string;
  fields: readonly FieldSchema[];
  onChoose: (macro: Macro) => void;
  onClose: () => void;
}

export default function MacroPicker(props: MacroPickerProps) {
  const t = useText(actionTexts);
  return (
    <Dialog opened onClose={props.onClose} title={t.chooseMacro} size="xl" returnFocus={false}>
      <Choice {...props} />
    </Dialog>
  );
}

/** True if nothing of the macro can be used now. */
function isUnusable({ comment, refused }: Macro): boolean {
  return refused.length > 0 && (comment === null || refused.includes('comment'));
}

function Choice({ recordId, fields, onChoose }: MacroPickerProps) {
  const t = useText(actionTexts);
  const [text, setText] = useState('');
  const { data, error } = useQuery(macrosQuery(recordId));
  const found = (data ?? []).filter(({ name, comment }) => hasWords(text, name, comment?.body ?? ''));
  return (
    <>
      <FaultAlert error={error} />
      <OptionList
        label={t.findMacro}
        placeholder={t.findMacro}
        text={text}
        onText={setText}
        options={found}
        keyOf={({ id }) => id}
        isDisabled={isUnusable}
        render={({ name }) => name}
        onChoose={onChoose}
        aside={(macro) => <MacroPreview macro={macro} fields={fields} recordId={recordId} />}
      />
      <Text size="xs" c="dimmed" role="status">
        {data !== undefined && found.length === 0 ? t.noMacros : null}
      </Text>
    </>
  );
}

function MacroPreview({ macro, fields, recordId }: { macro: Macro; fields: readonly FieldSchema[]; recordId: string }) {
  const t = useText(actionTexts);
  const parts = macro.refused.map((part) => t.refused(part)).join(', ');
  return (
    <section className={classes.preview} aria-label={macro.name}>
      {macro.comment === null ? (
        <Text size="sm" c="dimmed">
          {t.macroOpened}
        </Text>
      ) : (
        <Markdown source={macro.comment.body} />
      )}
      <MacroChanges macro={macro} fields={fields} recordId={recordId} />
      {parts !== '' && (
        <Text size="xs" mt="xs" fw={500}>
          {isUnusable(macro) ? t.unusable(parts) : t.notPossible(parts)}
        </Text>
      )}
    </section>
  );
}
