/** Menus and other dropdowns whose code is loaded when they are first used, so that it is not part of the first load. */
import { cloneElement, type ComponentType, type ReactElement, useEffect, useRef, useState } from 'react';
import { flushSync } from 'react-dom';

export interface DropdownProps {
  opened: boolean;
  onOpened: (opened: boolean) => void;
  /** The button that opens it. */
  children: ReactElement<object>;
}

interface OnFirstUseProps<More> extends DropdownProps {
  /** Must be the same function each time. */
  load: () => Promise<ComponentType<DropdownProps & More>>;
  /** Further props of the dropdown. */
  more: More;
  /** What the button opens, for screen readers. */
  popup: 'menu' | 'dialog';
  children: ReactElement<{
    onClick?: () => void;
    onPointerEnter?: () => void;
    'aria-haspopup'?: 'menu' | 'dialog';
    'aria-expanded'?: boolean;
  }>;
}

/** Shows the button alone until its dropdown is opened; then the dropdown, which contains the button. */
export function OnFirstUse<More>({ load, more, popup, opened, onOpened, children }: OnFirstUseProps<More>) {
  const place = useRef<HTMLSpanElement>(null);
  const [Dropdown, setDropdown] = useState<ComponentType<DropdownProps & More>>();
  const [ready, setReady] = useState(false);
  useEffect(() => {
    if (!opened || Dropdown !== undefined) return;
    void load().then((found) => {
      // The button is mounted again. It has the focus before the dropdown opens, so that it gets it back afterwards.
      flushSync(() => setDropdown(() => found));
      place.current?.querySelector('button')?.focus();
      return setReady(true);
    });
  }, [opened, Dropdown, load]);
  return (
    <span ref={place} style={{ display: 'contents' }}>
      {Dropdown === undefined ? (
        cloneElement(children, {
          onClick: () => onOpened(true),
          onPointerEnter: () => void load(),
          'aria-haspopup': popup,
          'aria-expanded': false,
        })
      ) : (
        <Dropdown {...more} opened={opened && ready} onOpened={onOpened}>
          {children}
        </Dropdown>
      )}
    </span>
  );
}
