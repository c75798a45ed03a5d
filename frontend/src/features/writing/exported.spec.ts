// @vitest-environment happy-dom
import { cleanup, fireEvent, render, screen } from '@testing-library/vue'
import userEvent from '@testing-library/user-event'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createMemoryHistory, createRouter } from 'vue-router'
import { i18n } from '@/i18n'
import { json } from '@/shared/testing/fakeServer'
import { project, serveProject, withFirst } from '@/shared/testing/writingProject'
import ProjectView from './ProjectView.vue'

vi.mock('./MarkdownEditor.vue', () => import('@/shared/testing/plainEditor'))

const OWN = 'Text of “Introduction”'

Object.assign(URL, { createObjectURL: () => 'blob:x', revokeObjectURL: () => undefined })

afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
  localStorage.clear()
})

const serve = (now = project) =>
  serveProject(now, () => ({
    'POST /writing/prj_1/check': () => json({ findings: [], cited: 1, places: 1, records: 1 }),
    'POST /writing/prj_1/export': () => new Response('%PDF-'),
  }))
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
