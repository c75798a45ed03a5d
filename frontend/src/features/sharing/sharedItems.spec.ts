import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { sharedItems } from './sharedItems'
import { papersOf } from './sharedPapers'

const at = '2026-11-28T10:00:03Z'
const user = (seq: number) => ({ seq, type: 'message.user', at, text: `said ${seq}`, attachments: [] })
interface Case {
  readonly name: string
  readonly events: readonly {
    readonly seq: number
    readonly type: string
    readonly seen_seq?: number
    readonly status?: string
  }[]
  readonly shown: readonly number[]
}
/** Those of the order itself, `tests/unit/backend-api/agent/test_shown_order.py`, which links that are exported have. */
const cases = JSON.parse(
  readFileSync(fileURLToPath(new URL('../../../../tests/data/shown_order.json', import.meta.url)), 'utf8'),
) as readonly Case[]

it.each(cases)('is in the order in which the server has it: $name', ({ events, shown }) => {
  const told = { at: '2026-11-28T10:00:03Z', text: 'said', name: 'n', phrase: '', call_id: 'c', feedback: 'but' }
  expect(sharedItems(events.map((one) => ({ ...told, ...one }))).map(({ id }) => id)).toEqual(shown)
})

it('puts a result with its call, says what was cut, and leaves out what it does not know', () => {
  const cut = (seq: number, seen: number) => ({
    ...{ seq, type: 'message.completed', at, text: `cut ${seq}` },
    ...{ partial: true, seen_seq: seen },
  })
  const called = { seq: 5, type: 'tool.called', at, call_id: 'c', name: 'n', arguments: {}, phrase: '', seen_seq: 1 }
  const result = { seq: 6, type: 'tool.finished', at, call_id: 'c', success: true, preview: 'done', body: null }
  const ended = { seq: 10, type: 'run.finished', at, status: 'stopped' }
  const unknown = { seq: 11, type: 'of.tomorrow', at }
  const items = sharedItems([user(1), user(4), called, result, cut(7, 1), user(8), cut(9, 4), ended, unknown])
  expect(items.map(({ kind }) => kind)).toEqual(['user', 'call', 'answer', 'user', 'answer', 'end', 'user'])
  expect(items.filter((item) => item.kind === 'answer' && item.isCut).map(({ id }) => id)).toEqual([7])
  expect(items[1]).toMatchObject({ output: 'done', success: true })
})
it('numbers papers in the order in which they are named, those that come later too', () => {
  const [one, two, three] = ['1', '2', '3'].map((name) => `rec_${name.repeat(32)}`)
  const event = (text: string) => ({ seq: 1, type: 'message.user', at: '', text })
  const papers = papersOf([event(`${two}, ${two}`), event(`${one}`)], (number) => `#${number}`)
  expect(papers.inText(`${one} ${two} ${three} ${three}`)).toBe('#2 #1 #3 #3')
})
it('has nothing of a message that was taken back', () => {
  const named = { ...user(4), message_id: 'u4' }
  const withdrawn = { seq: 5, type: 'message.withdrawn', at, message_id: 'u4' }
  const answer = { seq: 6, type: 'message.completed', at, text: 'said', seen_seq: 1 }
  expect(sharedItems([user(1), named, withdrawn, answer]).map(({ id }) => id)).toEqual([1, 6])
})
it('has the end of a run above what it had not read, also where its work is left out', () => {
  const ended = { seq: 6, type: 'run.finished', at, status: 'stopped', seen_seq: 1 }
  expect(sharedItems([user(1), user(4), ended]).map(({ id }) => id)).toEqual([1, 6, 4])
})
it('counts what went along with a message and is not shared', () => {
  const items = sharedItems([{ ...user(1), files_left_out: 2 }, user(2)])
  expect(items).toMatchObject([{ leftOut: 2, files: [] }, { leftOut: 0 }])
})
