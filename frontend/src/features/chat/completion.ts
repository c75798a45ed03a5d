/** One thing that may be completed: a file or folder, or what a command does. */
export interface Completion {
  readonly id: string
  readonly label: string
  readonly hint: string
  /** What is written in place of what was begun; null: it does something instead. */
  readonly insert: string | null
  /** There is more to choose from in there. */
  readonly goesOn?: boolean
}
/** What was begun before the caret: `/` at the very beginning names a command, `@` after a space a file. */
export interface Begun {
  readonly kind: 'command' | 'file'
  readonly query: string
  /** Where it begins in the text. */
  readonly from: number
}

export function begunAt(text: string, caret: number): Begun | null {
  const before = text.slice(0, caret)
  const command = /^\/((?:mode )?[\p{L}\p{N}_-]*)$/u.exec(before)
  if (command) return { kind: 'command', query: command[1] ?? '', from: 0 }
  const file = /(?:^|[\s(（])@([^\s@]*)$/u.exec(before)
  return file ? { kind: 'file', query: file[1] ?? '', from: caret - (file[1] ?? '').length - 1 } : null
}

/** The folder that is looked into, and what its entries are to hold. */
export function inFolder(query: string): { folder: string; name: string } {
  const at = query.lastIndexOf('/')
  return { folder: query.slice(0, Math.max(at, 0)), name: query.slice(at + 1) }
}

const MOST = 8
/** Those that fit best first: what begins with the query, then what holds it. */
export function fitting(all: readonly Completion[], query: string): Completion[] {
  const wanted = query.toLowerCase()
  const place = ({ label }: Completion): number => label.toLowerCase().indexOf(wanted)
  return all
    .filter((one) => place(one) >= 0)
    .sort((a, b) => Number(place(a) > 0) - Number(place(b) > 0))
    .slice(0, MOST)
}

/** The text after a choice, and where the caret stands. */
export function completed(
  text: string,
  caret: number,
  begun: Begun,
  choice: Completion,
): { text: string; caret: number } {
  const insert = choice.insert ?? ''
  return { text: text.slice(0, begun.from) + insert + text.slice(caret), caret: begun.from + insert.length }
}
