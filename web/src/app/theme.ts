/** The theme: a petrol accent on neutral greys, small type, thin lines. */
import { createTheme, type CSSVariablesResolver, type MantineColorsTuple, mergeThemeOverrides } from '@mantine/core';

const petrol: MantineColorsTuple = [
  '#e9f5f6',
  '#d3e9eb',
  '#a6d2d6',
  '#74babf',
  '#4aa5ac',
  '#2b949c',
  '#17838b',
  '#0b6b74',
  '#085a62',
  '#05464d',
];

const slate: MantineColorsTuple = [
  '#c9ced4',
  '#b3bac2',
  '#99a2ac',
  '#6b7580',
  '#3b434c',
  '#2c333b',
  '#232930',
  '#1a1f25',
  '#14181d',
  '#0e1115',
];

const common = createTheme({
  respectReducedMotion: true,
  colors: { petrol, dark: slate },
  primaryColor: 'petrol',
  primaryShade: { light: 7, dark: 6 },
  defaultRadius: 'sm',
  cursorType: 'pointer',
  fontFamily: 'Inter, "Segoe UI Variable Text", "Segoe UI", system-ui, -apple-system, "Noto Sans", sans-serif',
  fontFamilyMonospace: '"JetBrains Mono", "Cascadia Mono", ui-monospace, "SF Mono", Menlo, "Noto Sans Mono", monospace',
  fontSizes: { xs: '0.75rem', sm: '0.8125rem', md: '0.875rem', lg: '1rem', xl: '1.1875rem' },
  headings: {
    fontWeight: '600',
    sizes: {
      h1: { fontSize: '1.25rem', lineHeight: '1.3' },
      h2: { fontSize: '1rem', lineHeight: '1.35' },
      h3: { fontSize: '0.875rem', lineHeight: '1.4' },
    },
  },
  components: {
    Button: { defaultProps: { size: 'xs', radius: 'sm' } },
    ActionIcon: { defaultProps: { variant: 'subtle', color: 'gray' } },
    TextInput: { defaultProps: { size: 'xs' } },
    PasswordInput: { defaultProps: { size: 'xs' } },
    NumberInput: { defaultProps: { size: 'xs' } },
    Textarea: { defaultProps: { size: 'xs' } },
    Select: { defaultProps: { size: 'xs' } },
    NativeSelect: { defaultProps: { size: 'xs' } },
    Autocomplete: { defaultProps: { size: 'xs' } },
    MultiSelect: { defaultProps: { size: 'xs' } },
    TagsInput: { defaultProps: { size: 'xs' } },
    Switch: { defaultProps: { size: 'xs' } },
    Checkbox: { defaultProps: { size: 'xs' } },
    Radio: { defaultProps: { size: 'xs' } },
    SegmentedControl: { defaultProps: { size: 'xs' }, styles: { label: { paddingInline: '0.625rem' } } },
    Menu: { defaultProps: { shadow: 'md', position: 'bottom-end' } },
    Modal: { defaultProps: { radius: 'md' } },
    Tooltip: { defaultProps: { openDelay: 400, withArrow: true } },
    Anchor: { defaultProps: { underline: 'hover' } },
    Tabs: { defaultProps: { keepMounted: false } },
  },
});

/** The theme, with a localized label for close buttons. */
export function themeOf(close: string) {
  const named = { defaultProps: { 'aria-label': close } };
  return mergeThemeOverrides(common, { components: { CloseButton: named } });
}

/** CSS variables of the console in both colour schemes. Styles use these instead of colours. */
export const cssVariables: CSSVariablesResolver = (from) => ({
  variables: {},
  light: {
    '--mantine-color-error': '#c22f2f',
    '--mantine-color-dimmed': '#5d6670',
    '--mantine-color-placeholder': '#6b7580',
    '--d-page': '#f6f7f8',
    '--d-surface': '#ffffff',
    '--d-sunken': '#f0f2f4',
    '--d-hover': '#f1f5f6',
    '--d-selected': '#e3f0f1',
    '--d-line': '#e1e5e9',
    '--d-line-strong': '#ccd2d8',
    '--d-text': '#1b2127',
    '--d-accent': from.colors.petrol?.[7] ?? '',
    '--d-internal': '#fdf6e3',
    '--d-internal-line': '#e6cf8f',
    '--d-internal-text': '#6d4f00',
    '--d-warning': '#b04300',
  },
  dark: {
    '--mantine-color-error': '#ff8a8a',
    '--mantine-color-dimmed': '#9aa4af',
    '--mantine-color-placeholder': '#8a949f',
    '--mantine-color-body': '#14181d',
    '--mantine-color-anchor': from.colors.petrol?.[3] ?? '',
    '--mantine-color-petrol-filled': '#107680',
    '--mantine-color-petrol-filled-hover': '#17838b',
    '--d-page': '#101418',
    '--d-surface': '#171c21',
    '--d-sunken': '#1d232a',
    '--d-hover': '#1e252c',
    '--d-selected': '#15333a',
    '--d-line': '#2a3139',
    '--d-line-strong': '#3b444e',
    '--d-text': '#dfe4e9',
    '--d-accent': from.colors.petrol?.[4] ?? '',
    '--d-internal': '#2b2617',
    '--d-internal-line': '#5c4d1d',
    '--d-internal-text': '#e8cd86',
    '--d-warning': '#ffa94d',
  },
});
