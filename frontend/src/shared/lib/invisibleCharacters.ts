/** What shows nothing itself, but hides, moves or reverses what stands around it; but line breaks and tabs. */
const UNSEEN = '(?![\\n\\t])[\\p{Cc}\\p{Cf}\\p{DI}\\p{Zl}\\p{Zp}]'
/** Scripts whose words are written with joiners and non-joiners. */
const JOINED = ['Arabic', 'Syriac', 'Devanagari', 'Bengali', 'Gurmukhi', 'Gujarati', 'Oriya', 'Tamil', 'Telugu']
  .concat(['Kannada', 'Malayalam', 'Sinhala', 'Khmer', 'Mongolian'])
  .map((script) => `\\p{Script=${script}}`)
  .join('')
/** The few that words and pictures are written with: between two letters of such scripts, and within an emoji. */
const NEEDED = [
  `(?<=[${JOINED}])[\\u200C\\u200D](?=[${JOINED}])`,
  '(?<=\\p{Emoji})\\uFE0F',
  '(?<=[\\p{Extended_Pictographic}\\p{EMod}]\\uFE0F?)\\u200D(?=\\p{Extended_Pictographic})',
].join('|')
const OF_CODE = new RegExp(UNSEEN, 'gu')
const OF_PROSE = new RegExp(`(${NEEDED})|${UNSEEN}`, 'gu')

function written(one: string): string {
  const code = (one.codePointAt(0) ?? 0).toString(16).toUpperCase()
  return `⟨U+${code.padStart(4, '0')}⟩`
}

/** A text, such as a command, with each character that can't be seen written out. */
export function showInvisible(text: string): string {
  return text.replace(OF_CODE, written)
}

/** The same of a text that people read as such, whose words and emoji stay as they are. */
export function showInvisibleInProse(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(OF_PROSE, (one, needed?: string) => needed ?? written(one))
}

/** The blocks of letters that are written from right to left. */
const LEFTWARDS = /[\u0590-\u08FF\uFB1D-\uFDFF\uFE70-\uFEFC\u{10800}-\u{10FFF}\u{1E800}-\u{1EFFF}]/u

/** The name of a file within a sentence, whose order it leaves as it is: set apart where its letters would change that. */
export function nameInText(name: string): string {
  const seen = showInvisibleInProse(name)
  return LEFTWARDS.test(seen) ? `\u2066${seen}\u2069` : seen
}
