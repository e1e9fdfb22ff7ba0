/** Language, colours, the user's own page and signing out, as a menu. */
import { Menu, useMantineColorScheme } from '@mantine/core';
import {
  IconCheck,
  IconDeviceDesktop,
  IconLogout,
  IconMoon,
  IconSun,
  IconSwitchHorizontal,
  IconUser,
} from '@tabler/icons-react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link, useRouter } from '@tanstack/react-router';
import { chooseLanguage, LANGUAGE_NAMES, LANGUAGES, useLanguage } from '../i18n/language.ts';
import { useText } from '../i18n/text.ts';
import type { DropdownProps } from '../ui/on-first-use.tsx';
import { useOtherInterface } from '../portal/access.ts';
import { signOut } from './session.ts';
import { texts } from './texts.ts';

export function AccountDropdown({ opened, onOpened, children }: DropdownProps) {
  const t = useText(texts);
  const language = useLanguage();
  const client = useQueryClient();
  const switchable = useOtherInterface();
  const router = useRouter();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const leave = useMutation({
    mutationFn: () => signOut(client),
    onSettled: () => router.navigate({ to: '/sign-in' }),
  });
  const schemes = [
    { scheme: 'light', label: t.light, icon: IconSun },
    { scheme: 'dark', label: t.dark, icon: IconMoon },
    { scheme: 'auto', label: t.auto, icon: IconDeviceDesktop },
  ] as const;
  return (
    <Menu opened={opened} onChange={onOpened} position="top-start" width={220}>
      <Menu.Target>{children}</Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{t.language}</Menu.Label>
        {LANGUAGES.map((one) => (
          <Menu.Item
            key={one}
            lang={one.slice(0, 2)}
            onClick={() => chooseLanguage(one)}
            rightSection={one === language ? <IconCheck size={14} /> : null}
            aria-current={one === language}
          >
            {LANGUAGE_NAMES[one]}
          </Menu.Item>
        ))}
        <Menu.Label>{t.colours}</Menu.Label>
        {schemes.map(({ scheme, label, icon: Icon }) => (
          <Menu.Item
            key={scheme}
            leftSection={<Icon size={14} />}
            onClick={() => setColorScheme(scheme)}
            rightSection={scheme === colorScheme ? <IconCheck size={14} /> : null}
            aria-current={scheme === colorScheme}
          >
            {label}
          </Menu.Item>
        ))}
        <Menu.Divider />
        {switchable !== undefined && (
          <Menu.Item leftSection={<IconSwitchHorizontal size={14} />} onClick={switchable.enter}>
            {switchable.other === 'portal' ? t.toPortal : t.toDesk}
          </Menu.Item>
        )}
        <Menu.Item leftSection={<IconUser size={14} />} renderRoot={(props) => <Link to="/account" {...props} />}>
          {t.account}
        </Menu.Item>
        <Menu.Item leftSection={<IconLogout size={14} />} onClick={() => leave.mutate()}>
          {t.signOut}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
