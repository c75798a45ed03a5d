// @vitest-environment happy-dom
import { cleanup, render, screen } from '@testing-library/vue'
import { afterEach, expect, it, vi } from 'vitest'
import type { Display } from '@/api/types'
import { i18n } from '@/i18n'
import { startFakeServer } from '@/shared/testing/fakeServer'
import { forgetBodies } from '../body/bodies'
import type { ToolCard } from '../body/card'
import DesktopView from './DesktopView.vue'

afterEach(() => {
  cleanup()
  forgetBodies()
  vi.restoreAllMocks()
  vi.unstubAllGlobals()
})
type DesktopDisplay = Extract<Display, { type: 'desktop' }>
const display: DesktopDisplay = {
  type: 'desktop',
  action: 'click',
  width: 1280,
  height: 800,
  pointer_x: 320,
  pointer_y: 600,
  image: null,
  image_media_type: 'image/jpeg',
}
const card: ToolCard = {
  key: 'tool:1',
  callId: 'c',
  name: 'desktop_mouse',
  arguments: { action: 'click' },
  phrase: 'Using the mouse',
  outcome: 'succeeded',
  startedAt: null,
  durationMs: 1,
  output: '',
  preview: 'as text',
  display,
  body: { seq: 5, size: 4, media_type: 'image/jpeg', digest: '', parts: [] },
}
const show = (changes: Partial<DesktopDisplay>) => {
  startFakeServer({
    'GET /sessions/s/events/5/body': () => new Response(new Uint8Array([0xff, 0xd8, 0xff, 0xe0])),
  })
  vi.spyOn(URL, 'createObjectURL').mockReturnValue('blob:1')
  vi.spyOn(URL, 'revokeObjectURL').mockImplementation(() => undefined)
  return render(DesktopView, {
    props: { card: { ...card, display: { ...display, ...changes } }, sessionId: 's' },
    global: { plugins: [i18n] },
  })
}

it('shows the pointer in its place, at any width of the picture', async () => {
  show({})
  expect(await screen.findByRole('img', { name: 'Screenshot of the desktop, 1280 × 800 pixels' })).toBeTruthy()
  const pointer = screen.getByRole('img', { name: 'The pointer, at 320, 600' })
  expect([pointer.style.left, pointer.style.top]).toEqual(['25%', '75%'])
})

it.each([
  ['of a picture of a part', { pointer_x: null, pointer_y: null }],
  ['that is outside of the picture', { pointer_x: 99_999 }],
])('shows no pointer %s', async (_, changes) => {
  show(changes)
  await screen.findByRole('img', { name: /Screenshot/ })
  expect(screen.queryByRole('img', { name: /pointer/ })).toBeNull()
})
