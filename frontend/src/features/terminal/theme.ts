import type { ITheme } from '@xterm/xterm'

/** Sixteen colours that can be read on the paper of either face of the page. */
const LIGHT = {
  black: '#1d231f',
  red: '#ab2b22',
  green: '#1f6b45',
  yellow: '#7a5600',
  blue: '#1f5da8',
  magenta: '#8a3a86',
  cyan: '#0f6670',
  white: '#5f665f',
  brightBlack: '#5f665f',
  brightRed: '#c0392b',
  brightGreen: '#2a7d53',
  brightYellow: '#8a6400',
  brightBlue: '#2b6cb8',
  brightMagenta: '#9c4a97',
  brightCyan: '#177580',
  brightWhite: '#1d231f',
}
const DARK = {
  black: '#3a4552',
  red: '#f08a80',
  green: '#62bd8c',
  yellow: '#dcb45c',
  blue: '#7db2f0',
  magenta: '#d59ad1',
  cyan: '#62c3cf',
  white: '#b4bdc8',
  brightBlack: '#8e99a7',
  brightRed: '#f6a59d',
  brightGreen: '#7acca0',
  brightYellow: '#e8c67c',
  brightBlue: '#9dc6f6',
  brightMagenta: '#e2b4df',
  brightCyan: '#84d3dd',
  brightWhite: '#e6eaef',
}

/** The colours of the face that the page shows. */
export function terminalTheme(isDark: boolean): ITheme {
  const style = getComputedStyle(document.documentElement)
  const token = (name: string, otherwise: string): string => style.getPropertyValue(name).trim() || otherwise
  const background = token('--sunken', isDark ? '#0b1016' : '#f2efe8')
  const accent = token('--accent', isDark ? '#62bd8c' : '#1f6b45')
  return {
    ...(isDark ? DARK : LIGHT),
    background,
    foreground: token('--ink-1', isDark ? '#e6eaef' : '#1d231f'),
    cursor: accent,
    cursorAccent: background,
    selectionBackground: isDark ? '#62bd8c55' : '#1f6b4544',
  }
}

export function terminalFont(): string {
  return getComputedStyle(document.documentElement).getPropertyValue('--font-mono').trim() || 'monospace'
}
