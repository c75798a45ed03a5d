// @vitest-environment happy-dom
import { cleanup, fireEvent, render, screen } from '@testing-library/vue'
import { afterEach, expect, it, vi } from 'vitest'
import { createMemoryHistory, createRouter } from 'vue-router'
import { i18n } from '@/i18n'
import { json, problem } from '@/shared/testing/fakeServer'
import { serveProject, withFirst } from '@/shared/testing/writingProject'
import ProjectView from './ProjectView.vue'

const suggestion = {
  ...{ id: 'sug', text: '1.\n\nTwo.\n\n3.', instruction: 'make it better', is_stale: false },
  ...{ author: { kind: 'agent', session_id: 's' }, at: '2026-01-01T00:00:00Z' },
}
const project = withFirst({ text: 'One.\n\nTwo.\n\nThree.', suggestion })
const SUGGESTED = 'Suggested text of “Introduction”'
const STALE = 'The section was changed after this was suggested.'

afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
  localStorage.clear()
})

/** What a server does: a section that is written keeps its suggestion, which is of an older text then, or for the rest. */
const serve = (refuses = () => false) =>
  serveProject(project, (change, state) => ({
    'PUT /writing/prj_1/sections/s1': ({ body }) => {
      if (refuses()) return problem(503, 'store_unavailable')
      const { text, of_suggestion: of } = body as { text: string; of_suggestion?: string }
      const left = { ...suggestion, is_stale: of !== suggestion.id }
      return json((state.now = withFirst({ text, etag: 'two', suggestion: left }, project)))
    },
    'POST /writing/prj_1/sections/s1/suggestion/sug': ({ body }) => change((body as { text: string }).text),
  }))
function open(): void {
  cleanup()
  const router = createRouter({
    history: createMemoryHistory(),
    routes: [{ path: '/:rest(.*)*', component: ProjectView }],
  })
  render(ProjectView, { props: { id: 'prj_1' }, global: { plugins: [i18n, router] } })
}
/** What the suggestion still takes away. */
async function opens(): Promise<string[]> {
  const editor = (await screen.findByLabelText(SUGGESTED)).closest('.cm-editor')
  return [...(editor?.querySelectorAll('.cm-deletedLine') ?? [])].map(({ textContent }) => textContent)
}
async function take(): Promise<void> {
  const editor = (await screen.findByLabelText(SUGGESTED)).closest('.cm-editor')
  await fireEvent.mouseDown(editor!.querySelector('.cm-chunkButtons button[name=accept]')!)
}

it('stores a change that is accepted alone, which stays so after a reload, and leaves the others open', async () => {
  const { server } = serve()
  open()
  expect(await opens()).toEqual(['One.', 'Three.'])
  await take()
  expect(await screen.findByText('Accepted.')).toBeTruthy()
  await vi.waitFor(async () => expect(await opens()).toEqual(['Three.']))
  const put = server.calls.find(({ method }) => method === 'PUT')
  expect([put?.body, put?.headers.get('If-Match')]).toEqual([
    { text: '1.\n\nTwo.\n\nThree.', of_suggestion: 'sug' },
    '"one"',
  ])
  expect(screen.queryByText(STALE), 'the person has changed it by this suggestion').toBeNull()
  open()
  expect(await opens()).toEqual(['Three.'])
  expect(screen.queryByText(STALE)).toBeNull()
  await take()
  await vi.waitFor(() => expect(screen.queryByLabelText(SUGGESTED)).toBeNull())
  const post = server.calls.find(({ method }) => method === 'POST')
  expect([post?.body, post?.headers.get('If-Match')]).toEqual([{ text: suggestion.text }, '"two"'])
})
it('has a change open again that could not be stored, and says so', async () => {
  let isAway = true
  serve(() => isAway)
  open()
  await opens()
  await take()
  expect(await screen.findByText(/The database does not answer/)).toBeTruthy()
  await vi.waitFor(async () => expect(await opens()).toEqual(['One.', 'Three.']))
  isAway = false
  await take()
  await vi.waitFor(async () => expect(await opens()).toEqual(['Three.']))
})
