// @vitest-environment happy-dom
import { cleanup, fireEvent, render, screen } from '@testing-library/vue'
import userEvent from '@testing-library/user-event'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { defineComponent, h } from 'vue'
import { createMemoryHistory, createRouter } from 'vue-router'
import { i18n } from '@/i18n'
import { json, problem, startFakeServer } from '@/shared/testing/fakeServer'
import ProjectView from './ProjectView.vue'

// The editor itself needs a layout, which is only in a browser.
vi.mock('./MarkdownEditor.vue', () => ({
  default: defineComponent({
    props: { modelValue: String, label: String },
    emits: ['update:modelValue'],
    setup: (props, { emit }) => {
      const onInput = (event: Event): void => emit('update:modelValue', (event.target as HTMLTextAreaElement).value)
      return () => h('textarea', { 'aria-label': props.label, value: props.modelValue, onInput })
    },
  }),
}))

const TEXT = 'One.\n\nTwo.'
const first = { id: 's1', title: 'Introduction', level: 1, brief: '', text: TEXT, etag: 'one', suggestion: null }
const second = { ...first, id: 's2', title: 'Method', text: '', etag: 'm' }
const project = {
  ...{ id: 'prj_1', title: 'A study', kind: 'paper', style: 'apa', language: 'en', authors: [], etag: 'p1' },
  ...{ sections: [first, second], outline_etag: 'o1', sessions: [], bibliography: [] },
  ...{ created_at: '2026-01-01T00:00:00Z', updated_at: '2026-01-01T00:00:00Z' },
}
const withFirst = (change: object) => ({ ...project, sections: [{ ...first, ...change }, second] })
const OWN = 'Text of “Introduction”'

Object.assign(URL, { createObjectURL: () => 'blob:x', revokeObjectURL: () => undefined })

afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
  localStorage.clear()
})

/** The project as the server has it, which answers changes as the real one does. */
function serve(now: typeof project | ReturnType<typeof withFirst> = project) {
  const state = { now, etags: 1 }
  const change = (text: string): Response => {
    state.etags += 1
    return json((state.now = withFirst({ text, etag: `e${state.etags}`, suggestion: null })))
  }
  const server = startFakeServer({
    'GET /writing/styles': () => json([]),
    'GET /writing/prj_1': () => json(state.now),
    'GET /writing/prj_1/preview': () => json({ html: '' }),
    'POST /writing/prj_1/check': () => json({ findings: [], cited: 1, places: 1, records: 1 }),
    'POST /writing/prj_1/export': () => new Response('%PDF-'),
    'PUT /writing/prj_1/sections/s1': ({ body, headers }) =>
      headers.get('If-Match') === `"${state.now.sections[0]?.etag}"`
        ? change((body as { text: string }).text)
        : problem(412, 'text_changed'),
  })
  return { server, state }
}
function open(): void {
  const router = createRouter({
    history: createMemoryHistory(),
    routes: [{ path: '/:rest(.*)*', component: ProjectView }],
  })
  render(ProjectView, { props: { id: 'prj_1' }, global: { plugins: [i18n, router] } })
}
const field = (name: string): Promise<HTMLTextAreaElement> => screen.findByLabelText<HTMLTextAreaElement>(name)
const write = async (name: string, text: string): Promise<void> => fireEvent.update(await field(name), text)
const press = async (name: string | RegExp): Promise<void> =>
  userEvent.click(await screen.findByRole('button', { name, hidden: true }))
const kept = (): string[] => Object.keys(localStorage).filter((key) => key.startsWith('writing:'))

describe('text that is not saved', () => {
  it('is saved before it is checked and exported, and the preview says until then that it lacks it', async () => {
    const { server, state } = serve()
    open()
    await write(OWN, 'By hand.')
    await press('Preview')
    expect(await screen.findByText(/What you have not saved in “Introduction” is not in it yet/)).toBeTruthy()
    await press('Export')
    expect(await screen.findByText('Exported.')).toBeTruthy()
    expect(state.now.sections[0]?.text).toBe('By hand.')
    const sent = server.calls.filter(({ method }) => method !== 'GET').map(({ method, path }) => `${method} ${path}`)
    expect(sent.map((one) => one.split('?')[0]?.split('/').at(-1))).toEqual(['s1', 'check', 'export'])
    expect(screen.queryByText(/is not in it yet/)).toBeNull()
    expect(kept()).toEqual([])
  })
  it('keeps back what is exported where somebody else has changed the section, until it is chosen', async () => {
    const { server, state } = serve()
    open()
    await write(OWN, 'By hand.')
    await press('Method')
    state.now = withFirst({ text: 'Theirs.', etag: 'two' })
    await press('Export')
    expect(await screen.findByText(/somebody else has changed “Introduction”/)).toBeTruthy()
    expect((await field(OWN)).value).toBe('By hand.')
    expect(screen.getByRole('button', { name: 'Keep mine' })).toBeTruthy()
    expect(server.calls.some(({ path }) => /check|export/.test(path))).toBe(false)
  })
})
