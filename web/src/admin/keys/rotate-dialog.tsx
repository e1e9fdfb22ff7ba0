/** Rotates a key, with an overlap in which the old secret stays valid. */
import { Button, Group, Modal, Select, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { call } from '../../api/client.ts';
import type { access } from '../../api/types.ts';
import { useText } from '../../i18n/text.ts';
import { useAction } from '../../ui/action.ts';
import { FaultAlert } from '../../ui/fault.tsx';
import { ShownOnce } from '../../ui/shown-once.tsx';
import { texts as uiTexts } from '../../ui/texts.ts';
import type { Key } from './model.ts';
import { texts } from './texts.ts';

export function RotateDialog({ keyRow, close }: { keyRow: Key; close: () => void }) {
  const t = useText(texts);
  const ui = useText(uiTexts);
  const [overlap, setOverlap] = useState('PT0S');
  const rotate = useAction({
    run: () => call<typeof access.rotateKey>('POST', `/keys/${keyRow.id}/rotate`, { body: { overlap } }),
    touches: [['keys']],
    quiet: true,
  });
  return (
    <Modal opened onClose={close} title={t.rotateTitle(keyRow.name)}>
      <Stack gap="md">
        {rotate.data === undefined ? (
          <>
            <Text size="sm">{t.rotateBody}</Text>
            <Select
              label={t.overlap}
              data={[
                { value: 'PT0S', label: t.overlap0 },
                { value: 'PT1H', label: t.overlap1h },
                { value: 'P1D', label: t.overlap1d },
                { value: 'P7D', label: t.overlap7d },
              ]}
              value={overlap}
              allowDeselect={false}
              onChange={(value) => setOverlap(value ?? 'PT0S')}
            />
            <FaultAlert error={rotate.error} />
            <Group justify="flex-end" gap="xs">
              <Button variant="default" onClick={close}>
                {ui.cancel}
              </Button>
              <Button loading={rotate.isPending} onClick={() => rotate.mutate()}>
                {t.rotate}
              </Button>
            </Group>
          </>
        ) : (
          <>
            <ShownOnce label={t.rotated} secret={rotate.data.key} />
            <Group justify="flex-end">
              <Button onClick={close}>{ui.done}</Button>
            </Group>
          </>
        )}
      </Stack>
    </Modal>
  );
}
