// @vitest-environment happy-dom
import { cleanup, render } from '@testing-library/vue'
import { afterEach, expect, it, vi } from 'vitest'
import { defineComponent } from 'vue'
import { i18n } from '@/i18n'
import { startFakeServer } from '@/shared/testing/fakeServer'
import { forgetBodies } from './bodies'
import type { ToolCard } from './card'
import { useBody } from './useBody'

const PNG = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
const card = { body: { seq: 1, media_type: 'image/png' } } as ToolCard

afterEach(() => {
  cleanup()
  forgetBodies()
  vi.restoreAllMocks()
  vi.unstubAllGlobals()
})

it.each(['while it is fetched', 'once it is shown'])('lets go of a picture that is left %s', async (when) => {
  startFakeServer({ 'GET /sessions/s/events/1/body': () => new Response(PNG) })
  let body!: ReturnType<typeof useBody>
  const Picture = defineComponent(() => {
    body = useBody(
      () => 's',
      () => card,
    )
    return () => null
  })
  const view = render(Picture, { global: { plugins: [i18n] } })
  const made: string[] = []
  const released: string[] = []
  vi.spyOn(URL, 'createObjectURL').mockImplementation(() => {
    // The picture is read, and the view is left before the address is its own.
    if (when === 'while it is fetched') view.unmount()
    made.push('blob:picture')
    return 'blob:picture'
  })
  vi.spyOn(URL, 'revokeObjectURL').mockImplementation((url) => void released.push(url))
  await body.load()
  expect(made).toEqual(['blob:picture'])
  expect(body.url.value).toBe(when === 'once it is shown' ? 'blob:picture' : null)
  view.unmount()
  expect(released).toEqual(made)
})
