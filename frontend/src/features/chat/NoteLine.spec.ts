// @vitest-environment jsdom
import { render } from '@testing-library/vue'
import { afterEach, describe, expect, it } from 'vitest'
import type { WireEvent } from '@/api/types'
import { i18n, setLanguage } from '@/i18n'
import NoteLine from './NoteLine.vue'
import { reduce } from './reducer'
import { emptyTranscript, type NoteItem } from './transcript'

const note = (fields: Partial<NoteItem>): NoteItem => ({
  kind: 'note',
  key: '1',
  tone: 'notice',
  text: 'As the server says it.',
  code: null,
  params: {},
  ...fields,
})
function shown(fields: Partial<NoteItem>): string {
  const { container, unmount } = render(NoteLine, { props: { note: note(fields) }, global: { plugins: [i18n] } })
  const text = container.textContent.trim()
  unmount()
  return text
}

describe('a note', () => {
  afterEach(() => setLanguage('en'))

  it('about a full disk is said in the language of the page, with the numbers it came with', () => {
    const full = { code: 'computer.disk_full', params: { percent: 80, limit: 10240 } }
    expect(shown(full)).toMatch(/all of the 10,240 MB/)
    setLanguage('zh')
    expect(shown(full)).toMatch(/占满允许的 10,240 MB/)
    expect(shown({ ...full, code: 'computer.disk_filling' })).toMatch(/10,240 MB.*80%/)
  })
  it('counts one in the singular', () => {
    expect(shown({ code: 'max_turns', params: { turns: 1 } })).toMatch(/its one step\./)
    expect(shown({ code: 'max_turns', params: { turns: 12 } })).toMatch(/its 12 steps\./)
    expect(shown({ code: 'agent_budget_calls', params: { limit: 1 } })).toMatch(/budget of 1 call ended/)
  })
  it('about an MCP server says why it can’t be used in the language of the page', async () => {
    const params = { server: 'wiki', reason: 'It did not answer within 10 seconds.', cause: 'timed_out' }
    const failed = { code: 'mcp_failed', params }
    expect(shown(failed)).toBe('The MCP server wiki can’t be used. It did not answer within 10 seconds.')
    expect(shown({ code: 'mcp_needs_sign_in', params: { ...params, cause: 'needs_sign_in' } })).toMatch(/sign in/)
    expect(shown({ code: 'mcp_needs_scope', params: { ...params, cause: 'needs_scope' } })).toMatch(/sign in again/)
    await setLanguage('zh')
    expect(shown(failed)).toBe('无法使用 MCP 服务器 wiki：它没有及时响应。')
    expect(shown({ code: 'mcp_failed', params: { server: 'wiki', reason: 'Away.' } })).toMatch(/Away\.$/)
  })
  it('about a picture that the model does not see says which and why', () => {
    const unseen = { code: 'picture_not_shown', params: { path: 'a.png', reason: 'It can’t be decoded.' } }
    expect(shown(unseen)).toBe('The picture a.png could not be shown to the model: It can’t be decoded.')
    setLanguage('zh')
    expect(shown(unseen)).toBe('图片 a.png 无法显示给模型：It can’t be decoded.')
  })
  it('tells the words with which the person handed the computer back, and of none nothing', () => {
    const returned = { type: 'control.returned', seq: 1, at: '', session_id: 's', run_id: null, by: 'user' }
    const said = (words: string | null): string[] =>
      reduce(emptyTranscript, { ...returned, note: words } as WireEvent).items.map((item) => shown(item as NoteItem))
    expect([said(null), said('Signed in.')]).toEqual([[], ['You handed back control: Signed in.']])
  })
  it('about instructions names their file, with every character of its path', () => {
    const found = { type: 'instructions.found', seq: 1, at: '', session_id: 's', run_id: 'r', text: 'Tabs.' }
    const state = reduce(emptyTranscript, { ...found, path: 'a\u202E/AGENTS.md' } as WireEvent)
    expect(state.items.map((item) => shown(item as NoteItem))).toEqual([
      'Follows the instructions in a⟨U+202E⟩/AGENTS.md.',
    ])
  })
  it('about a command in the background tells it from the words around it', () => {
    const done = { code: 'background.done', params: { command: 'echo is done; ls' } }
    expect(shown(done)).toBe('In the background, “echo is done; ls” is done.')
    setLanguage('zh')
    expect(shown(done)).toBe('后台命令“echo is done; ls”已完成。')
  })
  it('before a message of a schedule says that, and what it makes up for', () => {
    const fired = { type: 'schedule.fired', seq: 1, at: '', session_id: 's', run_id: 'r', schedule_id: 'a' }
    const said = (fields: object): string => {
      const event = {
        ...fired,
        message_id: 'm',
        due_at: '2026-05-04T10:00:00Z',
        missed: 0,
        missed_from: null,
        missed_to: null,
      }
      const state = reduce(emptyTranscript, { ...event, ...fields } as WireEvent)
      return state.items.map((item) => shown(item as NoteItem)).join()
    }
    const missed = { missed_from: '2026-05-04T10:00:00Z', missed_to: '2026-05-04T11:00:00Z' }
    expect(said({})).toBe('Sent by a schedule.')
    expect(said({ due_at: null })).toBe('Sent by a schedule, as you asked for.')
    expect(said({ missed: 1, ...missed })).toMatch(/late: it was missed on May 4, /)
    expect(said({ missed: 1000, ...missed })).toMatch(/once for 1,000 times it was missed, from May 4, .* to May 4, /)
    setLanguage('zh')
    expect(said({ missed: 7, ...missed })).toMatch(/5月4日.*共错过 7 次/)
  })
  it('of an unknown code, or of none, is said as the server says it', () => {
    setLanguage('zh')
    expect(shown({ code: 'computer.of_tomorrow' })).toBe('As the server says it.')
    expect(shown({})).toBe('As the server says it.')
  })
  it('of an error has words for its code', () => {
    setLanguage('zh')
    expect(shown({ tone: 'error', code: 'model_auth' })).toMatch(/密钥/)
    expect(shown({ tone: 'error', code: 'model_error', text: 'Odd.' })).toMatch(/Odd\./)
  })
})
