import { begunFormula, formulaAt } from './mathSyntax'

const MARKS_ALONE = /(^|\n)[ \t]*(?:[-+*_=#>`~|]+|\d+[.)]?|(?:[-+*]|\d+[.)])[ \t]+\[[ xX]?\]?)[ \t]*$/
const LINK_BEGUN = /!?\[([^[\]\n]*)\](?:\([^()\s]*)?$/
const IN_WORD = /[\p{L}\p{N}_]/u
/** What emphasis may begin with: words, code, links, and what stands around words. */
const BEGINS_WORDS = /[\p{L}\p{N}\p{Ps}\p{Pi}\p{Extended_Pictographic}`"*_~]/u
const LATIN = /[A-Za-z0-9_]/
/** A new paragraph, item, heading, quote or cell: emphasis does not reach beyond it. */
const BEGINS = /\n\s*\n|\n[ \t]*(?:[-+*>|#]|\d+[.)])|\|/g

interface Open {
  readonly mark: string
  count: number
}

/**
 * Markdown that is still being written, with what is begun at its end brought to an end: emphasis and code are closed,
 * marks of which nobody knows yet what they begin are left out. What is finished stays as it is.
 */
export function settleTail(source: string): string {
  const begun = begunFormula(source)
  const known = (begun < 0 ? source : source.slice(0, begun)).replace(MARKS_ALONE, '$1')
  const last = [...known.matchAll(BEGINS)].at(-1)
  const start = last ? last.index + last[0].length : 0
  return known.slice(0, start) + closeMarks(known.slice(start).replace(LINK_BEGUN, '$1'))
}

function closeMarks(text: string): string {
  const open: Open[] = []
  let at = 0
  let end = text.length
  while (at < text.length) {
    const char = text.charAt(at)
    const formula = char === '$' || char === '\\' ? formulaAt(text, at) : null
    if (formula) {
      at = formula.end
      continue
    }
    if (char === '\\') {
      if (at === text.length - 1) end = at
      at += 2
      continue
    }
    if (!'`*_~'.includes(char)) {
      at += 1
      continue
    }
    let after = at + 1
    while (text[after] === char) after += 1
    const run = text.slice(at, after)
    if (char === '`') {
      const close = endOfCode(text, run, after)
      if (close < 0) return after === text.length ? finish(text.slice(0, at), open) : finish(text, open, run)
      at = close
      continue
    }
    const rest = take(open, text, at, run)
    if (after === text.length) end = after - rest
    at = after
  }
  return finish(text.slice(0, end), open)
}

/** Where the code that `run` begins ends, or -1. */
function endOfCode(text: string, run: string, from: number): number {
  for (let at = text.indexOf(run, from); at >= 0; at = text.indexOf(run, at)) {
    let after = at
    while (text[after] === '`') after += 1
    if (after - at === run.length) return after
    at = after
  }
  return -1
}

/** Closes what the run closes, opens what it opens; how many marks are left over at the end of the text. */
function take(open: Open[], text: string, at: number, run: string): number {
  const mark = run.charAt(0)
  const before = text[at - 1] ?? ' '
  const code = text.codePointAt(at + run.length)
  const next = code === undefined ? undefined : String.fromCodePoint(code)
  let count = run.length
  if (!/\s/.test(before))
    for (let last = open.at(-1); last?.mark === mark && count > 0; last = open.at(-1)) {
      const closed = Math.min(last.count, count)
      last.count -= closed
      count -= closed
      if (last.count === 0) open.pop()
    }
  if (next === undefined) return count
  const opens = count > 0 && BEGINS_WORDS.test(next) && mayOpen(mark, before, count)
  if (opens) open.push({ mark, count })
  return 0
}

/** Within a word of Latin letters only two stars begin anything for sure: names and products have one. */
function mayOpen(mark: string, before: string, count: number): boolean {
  if (mark === '~') return count === 2
  return !(mark === '_' ? IN_WORD : LATIN).test(before) || (mark === '*' && count > 1)
}

function finish(text: string, open: readonly Open[], code = ''): string {
  if (open.length === 0 && code === '') return text
  const closing = open
    .map(({ mark, count }) => mark.repeat(count))
    .reverse()
    .join('')
  return text.trimEnd() + code + closing
}
