// @vitest-environment happy-dom
import { userEvent } from '@testing-library/user-event'
import { cleanup, render, screen } from '@testing-library/vue'
import { afterEach, expect, it, vi } from 'vitest'
import type { Display } from '@/api/types'
import { i18n } from '@/i18n'
import { startFakeServer } from '@/shared/testing/fakeServer'
import { forgetBodies } from '../body/bodies'
import type { ToolCard } from '../body/card'
import CodeView from './CodeView.vue'

afterEach(() => {
  cleanup()
  forgetBodies()
  vi.restoreAllMocks()
  vi.unstubAllGlobals()
})
const PNG = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
type CodeDisplay = Extract<Display, { type: 'code' }>
const display: CodeDisplay = { type: 'code', language: 'python', context: 'python', outputs: [], is_cut: false }
const card: ToolCard = {
  key: 'tool:1',
  callId: 'c',
  name: 'code_run',
  arguments: { code: 'plot()' },
  phrase: 'Running code',
  outcome: 'succeeded',
  startedAt: null,
  durationMs: 1,
  output: '',
  preview: 'as text',
  display: null,
  body: null,
}
const show = (changes: Partial<ToolCard>) =>
  render(CodeView, { props: { card: { ...card, ...changes }, sessionId: 's' }, global: { plugins: [i18n] } })
const figure = (part: number | null) => ({ type: 'picture', image: null, image_media_type: 'image/png', part }) as const
const part = (offset: number, size: number, media_type: string) => ({ offset, size, media_type })

it('shows the code without empty lines around it, and its first line as far in as the others', () => {
  show({ arguments: { code: '\n  \n    if a:\n\n      b()\n\n' } })
  expect(screen.getByLabelText('Code').textContent).toBe('    if a:\n\n      b()')
})

it('shows text, tables and figures in their order, each figure by its part of the body', async () => {
  const server = startFakeServer({
    'GET /sessions/s/events/5/body': () => new Response(new Uint8Array([0x68, 0x69, ...PNG, ...PNG, 1])),
  })
  const made: Blob[] = []
  vi.spyOn(URL, 'createObjectURL').mockImplementation((blob) => `blob:${made.push(blob as Blob)}`)
  const released = vi.spyOn(URL, 'revokeObjectURL').mockImplementation(() => undefined)
  const view = show({
    display: {
      ...display,
      outputs: [
        { type: 'text', text: 'before \u001b[31mred', is_error: false },
        figure(1),
        { type: 'table', columns: ['', 'name'], rows: [['0', '<b>Ada</b>']], caption: '1 row' },
        figure(2),
      ],
    },
    body: {
      seq: 5,
      size: 19,
      media_type: 'application/octet-stream',
      digest: '',
      parts: [part(0, 2, 'text/plain'), part(2, 8, 'image/png'), part(10, 9, 'image/png')],
    },
  })
  expect(screen.getByText('plot()')).toBeTruthy()
  expect((await screen.findByAltText('Figure 2')).getAttribute('src')).toBe('blob:2')
  expect(screen.getByAltText('Figure 1').getAttribute('src')).toBe('blob:1')
  expect(made.map((blob) => blob.size)).toEqual([8, 9])
  expect(screen.getByText('before red')).toBeTruthy()
  expect(screen.getByRole('columnheader', { name: 'name' })).toBeTruthy()
  expect(screen.getByRole('cell', { name: '<b>Ada</b>' })).toBeTruthy()
  expect(screen.getByText('1 row')).toBeTruthy()
  expect(server.calls).toHaveLength(1)
  view.unmount()
  expect(released.mock.calls.map(([url]) => url)).toEqual(['blob:1', 'blob:2'])
})

it('says that a figure can’t be shown where the computer told none', () => {
  show({ display: { ...display, outputs: [figure(null)] } })
  expect(screen.getByText('Figure 1 can’t be shown.')).toBeTruthy()
})

it('shows the whole of a long text when asked, and its tables below', async () => {
  startFakeServer({ 'GET /sessions/s/events/5/body': () => new Response('all of it') })
  show({
    display: {
      ...display,
      is_cut: true,
      outputs: [
        { type: 'text', text: 'all', is_error: false },
        { type: 'table', columns: ['a'], rows: [['1']], caption: '' },
      ],
    },
    body: { seq: 5, size: 9, media_type: 'text/plain', digest: '', parts: [] },
  })
  await userEvent.click(screen.getByRole('button', { name: 'Show all' }))
  expect(await screen.findByText('all of it')).toBeTruthy()
  expect(screen.queryByText('all')).toBeNull()
  expect(screen.getByRole('cell', { name: '1' })).toBeTruthy()
  expect(screen.queryByRole('button', { name: 'Show all' })).toBeNull()
})

it('shows what is written while it runs', () => {
  show({ outcome: 'running', output: 'so far' })
  expect(screen.getByText('so far')).toBeTruthy()
})
