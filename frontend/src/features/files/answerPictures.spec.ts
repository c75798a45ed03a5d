// @vitest-environment jsdom
import { Blob } from 'node:buffer'
import { cleanup, fireEvent, render, screen } from '@testing-library/vue'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { defineComponent, h, nextTick, reactive } from 'vue'
import { i18n } from '@/i18n'
import { offerOpenFile } from '@/shared/lib/openFile'
import { json, startFakeServer } from '@/shared/testing/fakeServer'
import MarkdownText from '@/shared/ui/MarkdownText.vue'
import { offerAnswerPictures } from './answerPictures'

const PNG = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10])
const NOT_THERE = json({ code: 'file_missing', detail: 'none', status: 404 }, 404)
let files: Set<string>

beforeEach(() => {
  files = new Set(['chart.png'])
  // That of jsdom can't be read.
  vi.stubGlobal('Blob', Blob)
  let made = 0
  URL.createObjectURL = () => `blob:${(made += 1)}`
  URL.revokeObjectURL = vi.fn()
})
afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
})

function show(text: string, more: Record<string, unknown> = {}) {
  const state = reactive({ text, sessionId: 's', version: 0, isReady: true, isRunning: false, ...more })
  const path = (asked: string): string => new URLSearchParams(asked.split('?')[1]).get('path') ?? ''
  const server = startFakeServer({
    'GET /sessions/s/files/download': (request) =>
      files.has(path(request.path)) ? new Response(PNG) : NOT_THERE.clone(),
  })
  const opened = vi.fn()
  const Page = defineComponent(() => {
    offerOpenFile(opened)
    offerAnswerPictures({
      sessionId: () => state.sessionId,
      version: () => state.version,
      isReady: () => state.isReady,
      isRunning: () => state.isRunning,
    })
    return () => h(MarkdownText, { text: state.text, finished: !state.isRunning, showsUnseen: 'seen' in more })
  })
  const view = render(Page, { global: { plugins: [i18n] } })
  return { ...view, state, opened, asked: () => server.calls.map((call) => path(call.path)) }
}
const settled = () => new Promise((resolve) => setTimeout(resolve, 20))

describe('a picture in an answer', () => {
  it.each([
    'chart.png',
    './chart.png',
    '/workspace/chart.png',
    'sandbox:/workspace/chart.png',
    'attachment://chart.png',
  ])('is shown where it is named as %s, and opens beside the conversation', async (address) => {
    const { opened, asked } = show(`Here:\n\n![Sales](${address})`)
    const picture = await screen.findByRole('img', { name: 'Sales' })
    expect(picture.getAttribute('src')).toBe('blob:1')
    expect(asked()).toEqual(['chart.png'])
    await fireEvent.click(picture)
    expect(opened.mock.calls).toEqual([['chart.png', expect.any(String)]])
  })
  it('that is not there says so, and is shown once it is', async () => {
    const { state } = show('![Sales](later.png)')
    expect(await screen.findByText('(there is no such file)')).toBeTruthy()
    expect(screen.getByRole('link', { name: 'Sales' })).toBeTruthy()
    files.add('later.png')
    state.version += 1
    expect(await screen.findByRole('img', { name: 'Sales' })).toBeTruthy()
    expect(screen.queryByText('(there is no such file)')).toBeNull()
  })
  it('that is not written yet is no error while the agent is at work', async () => {
    const { state, asked } = show('![Sales](later.png)', { isRunning: true })
    await vi.waitFor(() => expect(asked()).toEqual(['later.png']))
    await settled()
    expect(screen.queryByText('(there is no such file)')).toBeNull()
    state.isRunning = false
    expect(await screen.findByText('(there is no such file)')).toBeTruthy()
  })
  it('is fetched again for what is said after it changed, and stays where it was said before', async () => {
    const { state, asked } = show('![One](chart.png)\n\nthen')
    await screen.findByRole('img', { name: 'One' })
    state.version += 1
    await nextTick()
    state.text += '\n\n![Two](chart.png)'
    expect((await screen.findByRole('img', { name: 'Two' })).getAttribute('src')).toBe('blob:2')
    expect(screen.getByRole('img', { name: 'One' }).getAttribute('src')).toBe('blob:1')
    expect(asked()).toEqual(['chart.png', 'chart.png'])
  })
  it('is not fetched from elsewhere, nor where that would start a computer, nor for a decision', async () => {
    const { asked, state } = show('![a](https://example.org/x.png) ![b](chart.png)', { isReady: false })
    await settled()
    expect(asked()).toEqual([])
    state.isReady = true
    expect(await screen.findByRole('img', { name: 'b' })).toBeTruthy()
    expect(screen.getByRole('link', { name: 'a' }).getAttribute('href')).toBe('https://example.org/x.png')
    cleanup()
    const decided = show('![b](chart.png)', { seen: true })
    await settled()
    expect(decided.asked()).toEqual([])
  })
  it('is let go with its conversation', async () => {
    const { state } = show('![One](chart.png)')
    await screen.findByRole('img', { name: 'One' })
    state.sessionId = 'other'
    await nextTick()
    expect(URL.revokeObjectURL).toHaveBeenCalledWith('blob:1')
  })
})
