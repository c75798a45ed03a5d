/** Keys an on-screen keyboard reports by name, as X11 key symbols. */
const NAMED: Readonly<Record<string, number>> = {
  Backspace: 0xff08,
  Tab: 0xff09,
  Enter: 0xff0d,
  Escape: 0xff1b,
  Home: 0xff50,
  ArrowLeft: 0xff51,
  ArrowUp: 0xff52,
  ArrowRight: 0xff53,
  ArrowDown: 0xff54,
  PageUp: 0xff55,
  PageDown: 0xff56,
  End: 0xff57,
  Delete: 0xffff,
}
export const BACKSPACE = 0xff08

export function namedKey(key: string): number | null {
  return NAMED[key] ?? null
}

/** The key symbol that types one character: Latin-1 stands for itself, all others come by their code point. */
export function symbolOf(character: string): number {
  if (character === '\n') return 0xff0d
  if (character === '\t') return 0xff09
  const point = character.codePointAt(0) ?? 0
  return (point >= 0x20 && point <= 0x7e) || (point >= 0xa0 && point <= 0xff) ? point : 0x01000000 + point
}

/** The presses that turn one text into the other at its end; a keyboard may correct words it has typed already. */
export function pressesBetween(before: string, after: string): number[] {
  const old = [...before]
  const now = [...after]
  let same = 0
  while (same < old.length && same < now.length && old[same] === now[same]) same += 1
  return [...old.slice(same).map(() => BACKSPACE), ...now.slice(same).map(symbolOf)]
}
