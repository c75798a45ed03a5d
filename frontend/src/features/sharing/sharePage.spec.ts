// @vitest-environment happy-dom
import { cleanup, render, screen } from '@testing-library/vue'
import userEvent from '@testing-library/user-event'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { nextTick } from 'vue'
import { addTexts, i18n, setLanguage } from '@/i18n'
import zh from '@/i18n/zh'
import { json, problem, startFakeServer } from '@/shared/testing/fakeServer'
import SharePage from './SharePage.vue'

const said = [
  {
    seq: 2,
    type: 'message.user',
    at: '2026-11-28T10:00:00Z',
    message_id: 'm',
    text: 'What is in it?',
    attachments: [],
  },
  {
    seq: 4,
    type: 'tool.called',
    at: '2026-11-28T10:00:01Z',
    call_id: 'c',
    name: 'file_read',
    arguments: {},
    phrase: '',
  },
  { seq: 5, type: 'tool.finished', at: '2026-11-28T10:00:02Z', call_id: 'c', success: true, preview: 'hi', body: null },
  { seq: 6, type: 'message.completed', at: '2026-11-28T10:00:03Z', message_id: 'a', text: 'It says **hi**.' },
]
const info = {
  ...{ title: 'Notes', mode: 'snapshot', include: [], created_at: '2026-11-28T10:00:00Z', expires_at: null },
  ...{ is_running: false, last_seq: 6, files: [{ path: 'notes.txt', size: 7 }] },
}
const plugins = [i18n]

beforeEach(() => setActivePinia(createPinia()))
afterEach(() => {
  cleanup()
  void setLanguage('en')
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

describe('what a stranger sees', () => {
  beforeEach(() => vi.stubGlobal('location', { ...location, hash: '#secret', origin: 'http://here' }))
  const page = (answers: Parameters<typeof startFakeServer>[0]) => {
    const server = startFakeServer(answers)
    render(SharePage, { props: { id: 'l1' }, global: { plugins } })
    return server
  }
  const whole = {
    'GET /shared/l1': () => json(info),
    'GET /shared/l1/events': () => json({ items: said, last_seq: 6, has_more: false }),
  }

  it('is the conversation, asked for with the token and without a log-in', async () => {
    const server = page(whole)
    expect(await screen.findByText('What is in it?')).toBeTruthy()
    expect((await screen.findByText('hi', { selector: 'strong' })).tagName).toBe('STRONG')
    expect(screen.getByText('1 file')).toBeTruthy()
    for (const { headers, path } of server.calls) {
      expect(headers.get('X-Share-Token')).toBe('secret')
      expect(headers.get('Authorization')).toBeNull()
      expect(path).not.toContain('secret')
    }
  })
  it('counts what went along with a message and is not shared', async () => {
    const items = [{ ...said[0], files_left_out: 2 }]
    page({ ...whole, 'GET /shared/l1/events': () => json({ items, last_seq: 2, has_more: false }) })
    expect(await screen.findByText('2 files not shared')).toBeTruthy()
  })
  it('says what calls did, not what they were doing', async () => {
    const [user, called, finished] = said
    const items = [
      user,
      { ...called, name: 'shell_exec', arguments: { command: 'ls' }, phrase: 'Running ls' },
      finished,
    ]
    page({ ...whole, 'GET /shared/l1/events': () => json({ items, last_seq: 6, has_more: false }) })
    expect(await screen.findByText('Ran ls')).toBeTruthy()
  })
  it('asks for the passphrase, and opens with it', async () => {
    let isOpen = false
    page({
      ...whole,
      'GET /shared/l1': () => (isOpen ? json(info) : problem(401, 'passphrase_required')),
      'POST /shared/l1/unlock': ({ body }) => {
        isOpen = (body as { passphrase: string }).passphrase === 'open sesame'
        return isOpen
          ? json({ access: 'a', expires_at: '' })
          : problem(403, 'passphrase_wrong', 'The passphrase is wrong.')
      },
    })
    await userEvent.type(await screen.findByLabelText('Passphrase'), 'wrong one{Enter}')
    expect(await screen.findByText('The passphrase is wrong.')).toBeTruthy()
    await userEvent.clear(screen.getByLabelText('Passphrase'))
    await userEvent.type(screen.getByLabelText('Passphrase'), 'open sesame{Enter}')
    expect(await screen.findByText('What is in it?')).toBeTruthy()
  })
  it('says in Chinese that a passphrase is wrong, where the page is', async () => {
    addTexts('zh', zh)
    await setLanguage('zh')
    page({
      'GET /shared/l1': () => problem(401, 'passphrase_required'),
      'POST /shared/l1/unlock': () => problem(403, 'passphrase_wrong', 'The passphrase is wrong.'),
    })
    await userEvent.type(await screen.findByLabelText('口令'), 'wrong one{Enter}')
    expect(await screen.findByText('口令不对。')).toBeTruthy()
  })
  it('names papers by what is shared of them, else by a number, and never by the id of a record', async () => {
    const [told, found, untold] = ['a', 'b', 'c'].map((one) => `rec_${one.repeat(32)}`)
    const at = '2026-11-28T10:00:00Z'
    const items = [
      { seq: 1, type: 'message.user', at, text: `Look at ${untold}`, attachments: [] },
      {
        seq: 2,
        type: 'tool.called',
        at,
        call_id: 'c',
        name: 'citation_add',
        arguments: { record: told },
        phrase: `Citing ${told}`,
      },
      {
        seq: 3,
        type: 'tool.finished',
        at,
        call_id: 'c',
        success: true,
        preview: `Kept, as ${told}: Of *trees*`,
        body: null,
      },
      { seq: 4, type: 'tool.called', at, call_id: 'd', name: 'findings_submit', arguments: {}, phrase: 'Handing in' },
      {
        ...{ seq: 5, type: 'tool.finished', at, call_id: 'd', success: true, preview: '', body: null },
        display: { type: 'findings', items: [{ record: found, title: 'Deep learning' }], refused: 0 },
      },
      { seq: 6, type: 'message.completed', at, text: `It grows [${told}, abstract; \`${found}\`, p. 2; ${untold}].` },
    ]
    page({ ...whole, 'GET /shared/l1/events': () => json({ items, last_seq: 6, has_more: false }) })
    expect(await screen.findByText('It grows [Of *trees*, abstract; Deep learning, p. 2; Paper 1].')).toBeTruthy()
    expect(screen.getByText('Look at Paper 1')).toBeTruthy()
    expect(document.body.textContent).not.toContain('rec_')
  })
  it('says so where the link has expired, and shows nothing', async () => {
    page({ 'GET /shared/l1': () => problem(410, 'share_expired', 'This link has expired.') })
    expect(await screen.findByText('This link has expired.')).toBeTruthy()
    expect(screen.queryByRole('button')).toBeNull()
  })
  it('replays from the beginning, and jumps to the result', async () => {
    page(whole)
    await screen.findByText('What is in it?')
    vi.useFakeTimers()
    const press = (name: string): void => screen.getByRole('button', { name }).click()
    press('Play from here')
    await vi.advanceTimersByTimeAsync(0)
    expect(screen.queryByText('What is in it?')).toBeNull()
    await vi.advanceTimersByTimeAsync(100)
    expect(screen.getByText('What is in it?')).toBeTruthy()
    expect(screen.queryByText('It says', { exact: false })).toBeNull()
    press('Jump to the result')
    await vi.advanceTimersByTimeAsync(0)
    expect(screen.getByText('It says', { exact: false })).toBeTruthy()
  })
  it('keeps in view what a replay brings, and shows the result where one jumps to it', async () => {
    const watched = new Map<() => void, Set<Element>>()
    vi.stubGlobal(
      'ResizeObserver',
      class {
        private readonly seen = new Set<Element>()
        constructor(private readonly callback: () => void) {
          watched.set(callback, this.seen)
        }
        observe(element: Element): void {
          this.seen.add(element)
        }
        disconnect(): void {
          watched.delete(this.callback)
        }
      },
    )
    page(whole)
    await screen.findByText('What is in it?')
    const main = screen.getByRole('main')
    Object.defineProperties(main, { clientHeight: { value: 100 }, scrollHeight: { value: 900 } })
    const tops: (number | undefined)[] = []
    main.scrollTo = ((to: ScrollToOptions) => tops.push(to.top)) as typeof main.scrollTo
    const grow = async () => {
      const told = [...watched].filter(([, elements]) => elements.has(main.firstElementChild as Element))
      for (const [callback] of told) callback()
      await nextTick()
    }
    await grow()
    expect(tops, 'it is read from its beginning').toEqual([])
    screen.getByRole('button', { name: 'Jump to the result' }).click()
    await vi.waitFor(() => expect(tops).toContain(900))
    screen.getByRole('button', { name: 'Play from here' }).click()
    await screen.findByText('What is in it?')
    tops.length = 0
    await grow()
    expect(tops).toContain(900)
    screen.getByRole('button', { name: 'Pause' }).click()
    await nextTick()
    tops.length = 0
    await grow()
    expect(tops).toEqual([])
  })
})

describe('a conversation that was interrupted', () => {
  const at = '2026-11-28T10:00:03Z'
  const user = (seq: number) => ({ seq, type: 'message.user', at, text: `said ${seq}`, attachments: [] })
  const cut = (seq: number, seen: number) => ({
    ...{ seq, type: 'message.completed', at, text: `cut ${seq}` },
    ...{ partial: true, seen_seq: seen },
  })
  const ended = (seq: number, status: string) => ({ seq, type: 'run.finished', at, status })
  it('says where it was interrupted, and that it was stopped', async () => {
    startFakeServer({
      'GET /shared/l1': () => json(info),
      'GET /shared/l1/events': () =>
        json({ items: [user(1), user(2), cut(3, 1), cut(4, 2), ended(5, 'stopped')], last_seq: 5, has_more: false }),
    })
    render(SharePage, { props: { id: 'l1' }, global: { plugins } })
    expect(await screen.findAllByText('Interrupted here')).toHaveLength(1)
    expect(screen.getByText('Stopped')).toBeTruthy()
  })
})
