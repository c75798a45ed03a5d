/** What JavaScript's numbers can't hold: whole ones from 2^53 on. A person who decides about a call reads them exactly. */
const UNSAFE = /\d{16}/
/** A string of JSON, in which digits are text, or a number, as one piece: digits of a fraction are no whole number. */
const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g
const LONG_WHOLE = /^-?\d{16,}$/

type Json = Record<string, unknown>

/** No text of the server's has it: it is another one each time. */
function newMark(): string {
  return `${crypto.getRandomValues(new Uint32Array(4)).join('.')}:`
}

/**
 * An event, or a page of them, of the server's JSON. In `approval.requested` whole numbers that a `number` would round are
 * `bigint`; everywhere else they are rounded, as by `JSON.parse`, which also says what throws.
 */
export function parseEvents<T>(text: string): T {
  if (!UNSAFE.test(text) || !text.includes('"approval.requested"')) return JSON.parse(text) as T
  const mark = newMark()
  const marked = text.replace(STRING_OR_NUMBER, (found) => (LONG_WHOLE.test(found) ? `"${mark}${found}"` : found))
  const parsed = JSON.parse(marked) as Json
  const events = Array.isArray(parsed['items']) ? (parsed['items'] as Json[]) : [parsed]
  for (const event of events) restore(event, mark, event['type'] === 'approval.requested')
  return restore(parsed, mark, false) as T
}

function restore(value: unknown, mark: string, exact: boolean): unknown {
  if (typeof value === 'string') {
    if (!value.startsWith(mark)) return value
    const digits = value.slice(mark.length)
    return exact && !Number.isSafeInteger(Number(digits)) ? BigInt(digits) : Number(digits)
  }
  if (typeof value !== 'object' || value === null) return value
  const holder = value as Json
  for (const [key, inner] of Object.entries(holder)) {
    const restored = restore(inner, mark, exact)
    if (restored !== inner) holder[key] = restored
  }
  return value
}

/** As `JSON.stringify(value, null, 1)`, with each `bigint` in its digits. */
export function printExact(value: unknown): string {
  const mark = newMark()
  const text = JSON.stringify(value, (_, inner: unknown) => (typeof inner === 'bigint' ? `${mark}${inner}` : inner), 1)
  return text.replaceAll(new RegExp(`"${mark}(-?\\d+)"`, 'g'), '$1')
}
