import { describe, expect, it } from 'vitest'
import { filesMade, folded, rowAtWork } from './fold'
import type { AssistantItem, EndItem, Item, NoteItem, ThinkingItem, ToolItem, UserItem } from './transcript'

const at = (second: number): string => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString()
const usage: EndItem['usage'] = {
  input: 0,
  cached: 0,
  output: 0,
  thinking: 0,
  cache_write: 0,
  new: 0,
  cost: null,
  known_cost: 0,
  by_model: {},
  costs: {},
}
const user = (key: string): UserItem => ({
  kind: 'user',
  key,
  seq: 1,
  messageId: key,
  text: 'do it',
  attachments: [],
  clientMessageId: null,
  at: at(0),
})
const tool = (key: string, changes: Partial<ToolItem> = {}): ToolItem => ({
  kind: 'tool',
  agentId: null,
  agentKind: null,
  teammate: null,
  inner: [],
  key,
  callId: key,
  name: 'shell_exec',
  arguments: {},
  phrase: '',
  outcome: 'succeeded',
  needsComputer: true,
  startedAt: at(1),
  durationMs: 1000,
  output: '',
  outputPoints: 0,
  preview: '',
  display: null,
  body: null,
  ...changes,
})
const says = (key: string, text: string): AssistantItem => ({
  kind: 'assistant',
  key,
  messageId: key,
  text,
  partial: false,
  complete: true,
})
const thought = (key: string): ThinkingItem => ({
  kind: 'thinking',
  key,
  messageId: key,
  text: 'so',
  durationMs: 5,
  complete: true,
})
const end: EndItem = {
  kind: 'end',
  key: 'end',
  runId: 'r',
  status: 'completed',
  reason: null,
  code: null,
  retryable: false,
  files: [],
  durationMs: 15_000,
  usage,
}
const note: NoteItem = { kind: 'note', key: 'n', tone: 'error', text: 'No.', code: null, params: {} }
const approval: Item = { kind: 'approval', key: 'a', approvalId: 'a', calls: [], expiresAt: null, decided: {} }
const kinds = (items: readonly Item[]): string[] => folded(items).map(({ kind }) => kind)

describe('folded', () => {
  it('makes one row of nineteen calls with their thoughts and the words before each', () => {
    const calls = Array.from({ length: 19 }, (_, n) => [says(`w${n}`, 'Next.'), thought(`t${n}`), tool(`c${n}`)])
    const rows = folded([user('u'), ...calls.flat(), says('answer', 'Done:\n\n- all'), end])
    expect(rows.map(({ kind }) => kind)).toEqual(['user', 'work', 'assistant', 'end'])
    expect(rows[1]).toMatchObject({ durationMs: 15_000, steps: { length: 57 } })
  })
  it('leaves an answer in sight that more calls came after', () => {
    const long = says('long', 'First.\n\nSecond.')
    expect(kinds([user('u'), tool('1'), long, tool('2'), end])).toEqual(['user', 'work', 'assistant', 'work', 'end'])
  })
  it('leaves errors, decisions, opened ports and pictures that were asked for in sight', () => {
    const port = tool('port', { name: 'expose_port' })
    const body = { seq: 1, size: 1, media_type: 'image/png', digest: '', parts: [] }
    const look = tool('look', { name: 'browser_view', body })
    expect(kinds([tool('1'), note, tool('2'), port, look, says('s', 'Look.'), end])).toEqual([
      'work',
      'note',
      'tool',
      'tool',
      'assistant',
      'end',
    ])
    expect(kinds([tool('1'), approval, tool('2')])).toEqual(['work', 'approval', 'work'])
  })
  it('leaves a call in sight whose agent waits for a decision', () => {
    const call = { call_id: 'x', name: 'n', arguments: {} }
    const open = { ...approval, calls: [call] } as ToolItem['inner'][number]
    expect(kinds([tool('1'), tool('2', { inner: [open] })])).toEqual(['work', 'tool'])
  })
  it('leaves a thought without calls as it is', () => {
    expect(kinds([user('u'), thought('t'), says('s', 'Hello.'), end])).toEqual(['user', 'thinking', 'assistant', 'end'])
  })
  it('measures parts of a turn by their calls, and the only one by its run', () => {
    const rows = folded([user('u'), tool('1'), approval, tool('2', { startedAt: at(5), durationMs: 3000 }), end])
    expect(rows.filter(({ kind }) => kind === 'work').map((row) => 'durationMs' in row && row.durationMs)).toEqual([
      1000, 3000,
    ])
  })
  it('keeps a row as it is while nothing in it changes', () => {
    const calls = [tool('1'), tool('2')]
    const [before] = folded(calls)
    expect(folded([...calls, says('s', 'And so.\n\nOn.')])[0]).toBe(before)
    expect(folded([...calls, tool('3')])[0]).not.toBe(before)
    expect(folded([...calls, tool('3')])[0]?.key).toBe(before?.key)
  })
  it('knows the row where work goes on', () => {
    expect(rowAtWork(folded([tool('1'), end]))).toBeNull()
    expect(rowAtWork(folded([tool('1'), end, user('u'), tool('2')]))?.steps[0]?.key).toBe('2')
  })
  it('names each file that was written once', () => {
    const wrote = (path: string, operation: 'read' | 'write') =>
      tool(path + operation, {
        display: { type: 'file', path, operation, size: 1, entries: null, replaced: null, diff: null },
      })
    const edited = tool('e', { display: { type: 'diff', path: 'a.md', diff: '' } })
    expect(filesMade([wrote('a.md', 'write'), wrote('b.md', 'read'), edited])).toEqual(['a.md'])
  })
})
