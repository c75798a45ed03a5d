import { plainWords } from '@/shared/lib/plainWords'

/** Most of a text that its last line is looked for in. */
const LOOKED_AT = 600

/** The last line of a text, without the signs that set it. */
export function lastLine(text: string): string {
  const line = text
    .slice(-LOOKED_AT)
    .split('\n')
    .findLast((one) => /[\p{L}\p{N}]/u.test(one))
  return line ? plainWords(line) : ''
}
