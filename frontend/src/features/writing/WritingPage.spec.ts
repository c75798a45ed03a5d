// @vitest-environment happy-dom
import { cleanup, render, screen, within } from '@testing-library/vue'
import userEvent from '@testing-library/user-event'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { defineComponent, h } from 'vue'
import { createMemoryHistory, createRouter } from 'vue-router'
import { keepOpen } from '@/features/sessions'
import { i18n } from '@/i18n'
import { json, problem, startFakeServer } from '@/shared/testing/fakeServer'
import WritingPage from './WritingPage.vue'

// The editor itself needs a layout, which is only in a browser.
vi.mock('./MarkdownEditor.vue', () => ({
  default: defineComponent({
    props: { modelValue: String, label: String, original: String, marks: Array },
    emits: ['update:modelValue', 'save'],
    setup: (props, { emit, expose }) => (
      expose({
        goTo: (at: number) => document.body.setAttribute('data-went', String(at)),
        insert: (text: string) => emit('update:modelValue', `${props.modelValue} ${text}`),
      }),
      () =>
        h('textarea', {
          'aria-label': props.label,
          value: props.modelValue,
          onInput: (event: Event) => emit('update:modelValue', (event.target as HTMLTextAreaElement).value),
        })
    ),
  }),
}))

const section = { id: 's1', title: 'Introduction', level: 1, brief: '', text: 'One.', etag: 'one', suggestion: null }
const reference = {
  ...{ key: 'lecun2015deep', record_id: 'rec_1', title: 'Deep learning', authors: ['Yann LeCun'], year: 2015 },
  ...{ venue: 'Nature', url: 'https://doi.org/10.1/a', is_retracted: false, is_imported: false },
}
const project = {
  ...{ id: 'prj_1', title: 'A study', kind: 'paper', style: 'apa', language: 'en', authors: [], etag: 'p1' },
  ...{ sections: [section], outline_etag: 'o1', bibliography: [reference], sessions: [] },
  ...{ created_at: '2026-01-01T00:00:00Z', updated_at: '2026-01-01T00:00:00Z' },
}
const withSection = (change: object) => ({ ...project, sections: [{ ...section, ...change }] })
const finding = {
  ...{ code: 'key_unknown', severity: 'error', detail: 'No record has the key @x.', key: 'x' },
  ...{ record_id: '', section_id: 's1', at: 7 },
}
const found = (...findings: object[]) => ({ findings, cited: 1, places: 1, records: 1 })

afterEach(() => {
  cleanup()
  localStorage.clear()
  vi.unstubAllGlobals()
})

async function show(answers: Parameters<typeof startFakeServer>[0] = {}, at = '/writing/prj_1') {
  const server = startFakeServer({
    'GET /writing': () => json({ is_enabled: true, items: [], next_cursor: null }),
    'GET /writing/styles': () => json([{ name: 'apa', label: 'APA' }]),
    'GET /writing/prj_1': () => json(project),
    ...answers,
  })
  const router = createRouter({
    history: createMemoryHistory(),
    routes: [
      { path: '/', component: { template: '<div />' } },
      { path: '/s/:id', component: { template: '<div />' } },
      { path: '/corpus', component: { template: '<div />' } },
      { path: '/writing/:project?', component: WritingPage },
    ],
  })
  await router.push(at)
  render({ template: '<RouterView />' }, { global: { plugins: [i18n, router] } })
  return { ...server, router }
}
async function type(label: string, text: string): Promise<void> {
  const field = await screen.findByLabelText(label)
  await userEvent.clear(field)
  await userEvent.type(field, text)
}

describe('the page of writing', () => {
  it('says where there is nothing, and where this server has none', async () => {
    await show({}, '/writing')
    expect(await screen.findByText(/Nothing here yet/)).toBeTruthy()
    cleanup()
    await show({ 'GET /writing': () => json({ is_enabled: false, items: [], next_cursor: null }) }, '/writing')
    expect(await screen.findByText(/This server has no projects/)).toBeTruthy()
  })
  it('leads back to the conversation from which the person came', async () => {
    keepOpen('/s/one')
    const { router } = await show({}, '/writing')
    await userEvent.click(await screen.findByRole('button', { name: 'Back to the conversations' }))
    await vi.waitFor(() => expect(router.currentRoute.value.path).toBe('/s/one'))
    keepOpen('/')
  })
  it('begins a project and opens it', async () => {
    const server = await show({ 'POST /writing': () => json(project, 201) }, '/writing')
    await type('Title of a new project', 'A study')
    await userEvent.click(screen.getByRole('button', { name: 'Begin' }))
    expect(await screen.findByRole('heading', { name: 'Introduction' })).toBeTruthy()
    const post = server.calls.find(({ method }) => method === 'POST')
    expect(post?.body).toEqual({ title: 'A study', kind: 'paper', language: 'en', style: 'apa' })
  })
  it('leads to a new conversation that names the project, above what was begun there', async () => {
    localStorage.setItem('draft::new', 'Make tea')
    const { router } = await show()
    const button = await screen.findByRole('button', { name: 'Work on this with the agent' })
    await userEvent.click(button)
    await vi.waitFor(() => expect(router.currentRoute.value.path).toBe('/'), { timeout: 60_000 })
    const words = 'Work with me on the project “A study” (prj_1) of Writing:'
    expect(localStorage.getItem('draft::new')).toBe(`${words}\n\nMake tea`)
    expect(JSON.parse(localStorage.getItem('draft::new:choices') ?? '')).toMatchObject({ preset: 'writing' })
  }, 90_000)
  it('saves a text as it was read', async () => {
    const server = await show({
      'PUT /writing/prj_1/sections/s1': () => json(withSection({ text: 'Two.', etag: 'two' })),
    })
    await type('Text of “Introduction”', 'Two.')
    await userEvent.click(screen.getByRole('button', { name: 'Save' }))
    expect(await screen.findByText('Saved.')).toBeTruthy()
    const put = server.calls.find(({ method }) => method === 'PUT')
    expect([put?.body, put?.headers.get('If-Match')]).toEqual([{ text: 'Two.' }, '"one"'])
  })
  it('shows what somebody else wrote meanwhile, and loses neither', async () => {
    let saved = 0
    let now: object = project
    await show({
      'GET /writing/prj_1': () => json(now),
      'PUT /writing/prj_1/sections/s1': ({ headers }) => {
        now = withSection({ text: 'Theirs.', etag: 'two' })
        if (headers.get('If-Match') !== '"two"') return problem(412, 'text_changed')
        saved += 1
        return json(withSection({ text: 'Mine.', etag: 'three' }))
      },
    })
    await type('Text of “Introduction”', 'Mine.')
    await userEvent.click(screen.getByRole('button', { name: 'Save' }))
    expect(await screen.findByText('Theirs.')).toBeTruthy()
    expect(screen.getByLabelText<HTMLTextAreaElement>('Text of “Introduction”').value).toBe('Mine.')
    expect(saved).toBe(0)
    await userEvent.click(screen.getByRole('button', { name: 'Keep mine' }))
    await vi.waitFor(() => expect(saved).toBe(1))
    expect(await screen.findByText('Saved.')).toBeTruthy()
  })
  it('accepts a suggestion as the person has it', async () => {
    const suggestion = {
      ...{ id: 'sug', text: 'Better.', instruction: 'make it better', is_stale: false },
      ...{ author: { kind: 'agent', session_id: 's' }, at: '2026-01-01T00:00:00Z' },
    }
    const server = await show({
      'GET /writing/prj_1': () => json(withSection({ suggestion })),
      'POST /writing/prj_1/sections/s1/suggestion/sug': () => json(withSection({ text: 'Best.', etag: 'two' })),
    })
    expect(await screen.findByText('For: make it better')).toBeTruthy()
    await type('Suggested text of “Introduction”', 'Best.')
    await userEvent.click(screen.getByRole('button', { name: 'Accept' }))
    await vi.waitFor(() => expect(screen.queryByText('For: make it better')).toBeNull())
    const post = server.calls.find(({ method }) => method === 'POST')
    expect([post?.body, post?.headers.get('If-Match')]).toEqual([{ text: 'Best.' }, '"one"'])
  })
  it('exports nothing while citations do not hold, unless the person says so', async () => {
    const server = await show({
      'POST /writing/prj_1/check': () => json(found(finding)),
      'POST /writing/prj_1/export': () => new Response('%PDF-'),
    })
    await userEvent.click(await screen.findByRole('button', { name: 'Export' }))
    expect(await screen.findByText(/Not exported: 1 citation/)).toBeTruthy()
    expect(server.calls.some(({ path }) => path.endsWith('/export'))).toBe(false)
    const list = screen.getByRole('region', { name: 'Citations of this section that need a look' })
    await userEvent.click(within(list).getByRole('button', { name: 'Go there' }))
    expect(document.body.getAttribute('data-went')).toBe('7')
    vi.stubGlobal('URL', Object.assign(URL, { createObjectURL: () => 'blob:x', revokeObjectURL: () => undefined }))
    await userEvent.click(screen.getByRole('button', { name: 'Export with marks' }))
    expect(await screen.findByText('Exported.')).toBeTruthy()
  })
  it('cites a paper that is kept at the cursor', async () => {
    const record = { id: 'rec_1', title: 'Deep learning', authors: ['Yann LeCun'], year: 2015, venue: 'Nature' }
    const server = await show({
      'GET /writing/prj_1': () => json({ ...project, bibliography: [] }),
      'GET /corpus': () => json({ is_enabled: true, items: [record], total: 1, next_cursor: null }),
      'POST /writing/prj_1/bibliography': () => json(project, 201),
    })
    await userEvent.click(await screen.findByRole('button', { name: 'Cite a paper' }))
    const box = await screen.findByRole('searchbox', { name: 'Find one of your papers to cite' })
    expect(document.activeElement).toBe(box)
    await userEvent.type(box, 'deep')
    await vi.waitFor(() => expect(server.calls.some(({ path }) => path.includes('q=deep'))).toBe(true))
    await userEvent.click(await screen.findByRole('button', { name: /Deep learning/ }))
    const text = screen.getByLabelText<HTMLTextAreaElement>('Text of “Introduction”')
    await vi.waitFor(() => expect(text.value).toBe('One. [@lecun2015deep]'))
    expect(server.calls.find(({ method }) => method === 'POST')?.body).toEqual({ record_id: 'rec_1' })
    expect(screen.queryByRole('searchbox')).toBeNull()
    expect(screen.getByText('Not saved yet')).toBeTruthy()
  })
  it('adds a section to those that are there', async () => {
    const second = { ...section, id: 's2', title: 'Method', text: '' }
    const server = await show({
      'PUT /writing/prj_1/outline': () => json({ ...project, sections: [section, second], outline_etag: 'o2' }),
    })
    await type('Title of the section', 'Method{Enter}')
    expect(await screen.findByRole('heading', { name: 'Method' })).toBeTruthy()
    const put = server.calls.find(({ method }) => method === 'PUT')
    expect(put?.headers.get('If-Match')).toBe('"o1"')
    expect(put?.body).toEqual({
      outline: [
        { id: 's1', title: 'Introduction', level: 1, brief: '' },
        { title: 'Method', level: 1, brief: '' },
      ],
      drop: false,
    })
  })
  it('keeps settings that are typed while another part is shown, and until they are saved', async () => {
    const changed = { ...project, title: 'A study of nets' }
    const server = await show({ 'PATCH /writing/prj_1': () => json(changed) })
    const turnTo = async (name: string): Promise<void> => userEvent.click(await screen.findByRole('button', { name }))
    await turnTo('Settings')
    await type('Title', 'A study of nets')
    await turnTo('Versions')
    await turnTo('Settings')
    expect(screen.getByLabelText<HTMLInputElement>('Title').value).toBe('A study of nets')
    const asked = (): boolean => !window.dispatchEvent(new Event('beforeunload', { cancelable: true }))
    expect(asked()).toBe(true)
    await userEvent.click(screen.getByRole('button', { name: 'Save' }))
    await vi.waitFor(() => expect(asked()).toBe(false))
    expect(server.calls.find(({ method }) => method === 'PATCH')?.body).toMatchObject({ title: 'A study of nets' })
  })
  it('shows nothing older than what was saved, however late an answer comes', async () => {
    const asked: ((answer: Response) => void)[] = []
    await show({
      'GET /writing/prj_1': () => new Promise<Response>((resolve) => asked.push(resolve)),
      'PUT /writing/prj_1/sections/s1': () => json(withSection({ text: 'Two.', etag: 'two' })),
    })
    await vi.waitFor(() => expect(asked).toHaveLength(1))
    asked[0]?.(json(project))
    await type('Text of “Introduction”', 'Two.')
    document.dispatchEvent(new Event('visibilitychange'))
    await vi.waitFor(() => expect(asked).toHaveLength(2))
    await userEvent.click(screen.getByRole('button', { name: 'Save' }))
    await screen.findByText('Saved.')
    asked[1]?.(json(project))
    await new Promise((resolve) => setTimeout(resolve))
    expect(screen.getByLabelText<HTMLTextAreaElement>('Text of “Introduction”').value).toBe('Two.')
  })
  it('has the bibliography below the text on a phone', async () => {
    vi.stubGlobal('matchMedia', (media: string) => ({
      ...{ media, matches: media.includes('max-width') },
      ...{ addEventListener: () => undefined, removeEventListener: () => undefined },
    }))
    await show()
    const text = await screen.findByLabelText('Text of “Introduction”')
    const list = screen.getByRole('region', { name: 'Bibliography' })
    expect(within(list).getByText('Deep learning')).toBeTruthy()
    expect(text.compareDocumentPosition(list) & Node.DOCUMENT_POSITION_FOLLOWING).toBeTruthy()
  })
})
