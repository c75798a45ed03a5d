// @vitest-environment happy-dom
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { effectScope, ref, type EffectScope } from 'vue'
import { json, startFakeServer } from '@/shared/testing/fakeServer'
import { LARGEST_SHOWN_BYTES, usePreview } from './usePreview'

const DOWNLOAD = 'GET /sessions/s/files/download'
const CHUNK = 1_000_000
let scope: EffectScope
let sent: number
let isCancelled: boolean

beforeEach(() => {
  scope = effectScope()
  sent = 0
  isCancelled = false
})
afterEach(() => {
  scope.stop()
  vi.unstubAllGlobals()
})

/** A body that goes on for ever, and counts what was asked of it. */
function endless(headers: Record<string, string> = {}): Response {
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      sent += 1
      controller.enqueue(new Uint8Array(CHUNK))
    },
    cancel() {
      isCancelled = true
    },
  })
  return new Response(body, { headers })
}
async function previewed(file: { name: string; size: number; content?: string; truncated?: boolean }, bytes: Response) {
  const { name, size, content = null, truncated = false } = file
  const told = { path: name, name, size, content, binary: content === null, language: null, truncated }
  const server = startFakeServer({ 'GET /sessions/s/files/content': () => json(told), [DOWNLOAD]: () => bytes })
  const { preview, problem } = scope.run(() =>
    usePreview(
      () => 's',
      () => name,
      () => 0,
    ),
  )!
  await vi.waitFor(() => expect(preview.value ?? problem.value).not.toBeNull())
  const asked = server.calls.map(({ method, path }) => `${method} ${path.split('?')[0]}`)
  return { preview: preview.value, hasDownloaded: asked.includes(DOWNLOAD) }
}

describe('a file that is too large to be shown', () => {
  it('is not fetched where its size says so', async () => {
    const { preview, hasDownloaded } = await previewed({ name: 'a.png', size: LARGEST_SHOWN_BYTES + 1 }, endless())
    expect([preview?.kind, hasDownloaded]).toEqual(['large', false])
  })
  it('is not read where the answer announces so', async () => {
    const length = { 'Content-Length': String(LARGEST_SHOWN_BYTES + 1) }
    const { preview } = await previewed({ name: 'a.pdf', size: 10 }, endless(length))
    expect(preview?.kind).toBe('large')
    expect(isCancelled).toBe(true)
    expect(sent).toBeLessThanOrEqual(1)
  })
  it('is read no further than the limit where nobody said so', async () => {
    const { preview } = await previewed({ name: 'a.png', size: 10 }, endless())
    expect(preview?.kind).toBe('large')
    expect(isCancelled).toBe(true)
    expect(sent).toBeLessThanOrEqual(LARGEST_SHOWN_BYTES / CHUNK + 2)
  })
})

describe('an HTML file', () => {
  const start = '<p>start</p>'
  it('is a document of its text', async () => {
    const { preview, hasDownloaded } = await previewed({ name: 'a.html', size: 12, content: start }, endless())
    expect([preview?.kind, preview?.url, hasDownloaded]).toEqual(['html', null, false])
    expect(preview?.html?.document).toContain(start)
  })
  it('is fetched where its text is but the beginning', async () => {
    const file = { name: 'a.html', size: 200_000, content: start, truncated: true }
    const { preview } = await previewed(file, new Response(`${start}<p>end</p>`))
    expect(preview?.html).toMatchObject({ isCut: false })
    expect(preview?.html?.document).toContain('<p>end</p>')
  })
  it('is its beginning where all of it is too large', async () => {
    const { preview } = await previewed({ name: 'a.html', size: 200_000, content: start, truncated: true }, endless())
    expect(preview?.html).toMatchObject({ isCut: true })
    expect(isCancelled).toBe(true)
  })
})

it('shows a picture that is small enough', async () => {
  const png = new Response(new Uint8Array([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10]))
  const { preview } = await previewed({ name: 'a.png', size: 8 }, png)
  expect([preview?.kind, preview?.url?.startsWith('blob:')]).toEqual(['image', true])
})

it('shows nothing of a file that was left before it was there', async () => {
  let answer: (told: Response) => void = () => undefined
  const awaited = new Promise<Response>((resolve) => (answer = resolve))
  const server = startFakeServer({ 'GET /sessions/s/files/content': () => awaited })
  const path = ref<string | null>('a.txt')
  const { preview, isLoading } = scope.run(() =>
    usePreview(
      () => 's',
      () => path.value,
      () => 0,
    ),
  )!
  await vi.waitFor(() => expect(server.calls).toHaveLength(1))
  path.value = null
  await vi.waitFor(() => expect(isLoading.value).toBe(false))
  const told = { path: 'a.txt', name: 'a.txt', size: 1, content: 'x', binary: false, language: null, truncated: false }
  answer(json(told))
  await new Promise((resolve) => setTimeout(resolve, 20))
  expect(preview.value).toBeNull()
})
