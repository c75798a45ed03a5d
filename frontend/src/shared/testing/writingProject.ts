import { json, problem, startFakeServer, type FakeServer } from './fakeServer'

/** A project of two sections, the first of them with a text. */
const section = { id: 's1', title: 'Introduction', level: 1, brief: '', text: 'One.\n\nTwo.', etag: 'one' }
export const project = {
  ...{ id: 'prj_1', title: 'A study', kind: 'paper', style: 'apa', language: 'en', authors: [], etag: 'p1' },
  sections: [
    { ...section, suggestion: null as object | null },
    { ...section, id: 's2', title: 'Method', text: '', etag: 'm', suggestion: null as object | null },
  ],
  ...{ outline_etag: 'o1', sessions: [], bibliography: [] },
  ...{ created_at: '2026-01-01T00:00:00Z', updated_at: '2026-01-01T00:00:00Z' },
}
export type Project = typeof project

/** The project with a change of its first section. */
export const withFirst = (change: Partial<Project['sections'][number]>, of: Project = project): Project => ({
  ...of,
  sections: of.sections.map((one, at) => (at === 0 ? { ...one, ...change } : one)),
})

interface Served {
  readonly server: FakeServer
  readonly state: { now: Project; etags: number }
}
type Answers = Parameters<typeof startFakeServer>[0]

/** The project as the server has it, which answers changes of its first section as the real one does; `more` are its other
 *  routes. */
export function serveProject(
  now: Project,
  more: (change: (text: string) => Response, state: Served['state']) => Answers = () => ({}),
): Served {
  const state = { now, etags: 1 }
  const change = (text: string): Response => {
    state.etags += 1
    return json((state.now = withFirst({ text, etag: `e${state.etags}`, suggestion: null }, now)))
  }
  const server = startFakeServer({
    'GET /writing/styles': () => json([]),
    'GET /writing/prj_1': () => json(state.now),
    'GET /writing/prj_1/preview': () => json({ html: '' }),
    'PUT /writing/prj_1/sections/s1': ({ body, headers }) =>
      headers.get('If-Match') === `"${state.now.sections[0]?.etag}"`
        ? change((body as { text: string }).text)
        : problem(412, 'text_changed'),
    ...more(change, state),
  })
  return { server, state }
}
