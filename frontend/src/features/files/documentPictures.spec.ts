// @vitest-environment jsdom
import { Blob } from 'node:buffer'
import { cleanup, fireEvent, render, screen } from '@testing-library/vue'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { defineComponent, h } from 'vue'
import { i18n } from '@/i18n'
import { offerOpenFile } from '@/shared/lib/openFile'
import { json, startFakeServer } from '@/shared/testing/fakeServer'
import { pathBeside, LARGEST_PICTURE_BYTES, LARGEST_TOGETHER_BYTES, MOST_PICTURES } from './documentPictures'
import FilePreview from './FilePreview.vue'

const PNG = [0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10]
let answer: () => Response

beforeEach(() => {
  answer = () => new Response(new Uint8Array(PNG))
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

it.each([
  ['report.md', 'chart.png', 'chart.png'],
  ['out/report.md', 'chart.png', 'out/chart.png'],
  ['out/report.md', './a%20b.png', 'out/a b.png'],
  ['out/report.md', '../chart.png', 'chart.png'],
  ['out/report.md', '/workspace/chart.png', 'chart.png'],
  ['out/report.md', '/chart.png', 'chart.png'],
  ['out/report.md', '../../chart.png', null],
  ['report.md', '/../chart.png', null],
  ['report.md', 'https://example.org/x.png', null],
  ['report.md', '//example.org/x.png', null],
  ['report.md', 'data:image/png;base64,AA', null],
  ['report.md', 'javascript:alert(1)//x.png', null],
  ['report.md', '/api/files/x.png', null],
])('of %s, %s is %s', (document, address, path) => expect(pathBeside(document, address)).toBe(path))

async function show(said: string | Record<string, string>, path = 'out/report.md') {
  const content = (asked: string): string =>
    typeof said === 'string' ? said : (said[new URLSearchParams(asked.split('?')[1]).get('path') ?? ''] ?? '')
  const told = { path, name: 'report.md', size: 9, binary: false, language: null, truncated: false }
  const server = startFakeServer({
    'GET /sessions/s/files/content': (request) => json({ ...told, content: content(request.path) }),
    'GET /sessions/s/files/download': () => answer(),
  })
  const opened = vi.fn()
  const Page = defineComponent(() => {
    offerOpenFile(opened)
    return () => h(FilePreview, { sessionId: 's', path, version: 0 })
  })
  const view = render(Page, { global: { plugins: [i18n] } })
  await screen.findByText('The end')
  const asked = () => server.calls.map((call) => call.path).filter((one) => one.includes('download'))
  return { ...view, asked, opened }
}

describe('a Markdown document', () => {
  it('shows the pictures beside it, each fetched once, and lets them go', async () => {
    const { asked, unmount } = await show('![Sales](chart.png)\n\n![Again](./chart.png)\n\nThe end')
    const picture = await screen.findByRole('img', { name: 'Sales' })
    expect(picture.getAttribute('src')).toBe('blob:1')
    expect((await screen.findByRole('img', { name: 'Again' })).getAttribute('src')).toBe('blob:1')
    expect(picture.closest('a')?.getAttribute('data-path')).toBe('out/chart.png')
    expect(asked()).toEqual(['/sessions/s/files/download?path=out%2Fchart.png'])
    unmount()
    await vi.waitFor(() => expect(URL.revokeObjectURL).toHaveBeenCalledWith('blob:1'))
  })
  it('has its links meant from where it lies', async () => {
    const { opened } = await show('[A](other.md) [B](../b%20c.md#part) [C](/workspace/d.md) ![E](x.png)\n\nThe end')
    await screen.findByRole('img', { name: 'E' })
    for (const name of ['A', 'B', 'C', 'E']) await fireEvent.click(screen.getByRole('link', { name }))
    expect(opened.mock.calls).toEqual([['out/other.md'], ['b c.md'], ['d.md'], ['out/x.png']])
  })
  it('fetches nothing of elsewhere, and nothing that is no picture', async () => {
    const { asked, container } = await show(
      '![a](https://example.org/x.png) ![b](//example.org/x.png) ![c](notes.txt) ![d](../../x.png)\n\nThe end',
    )
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect([asked(), container.querySelectorAll('img')]).toMatchObject([[], { length: 0 }])
    expect(screen.getByText('a').tagName).toBe('A')
  })
  it('leaves a link where the bytes are no picture, or too many', async () => {
    answer = () => new Response('<script>alert(1)</script>')
    const { container } = await show('![a](x.png)\n\nThe end')
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(container.querySelector('img')).toBeNull()
    cleanup()
    const tooMany = new Uint8Array(PNG.length + LARGEST_PICTURE_BYTES)
    tooMany.set(PNG)
    answer = () => new Response(tooMany)
    const large = await show('![a](x.png)\n\nThe end')
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(large.container.querySelector('img')).toBeNull()
  })
  it('looks for no picture of the one that was shown before beside the next one', async () => {
    const contents = { 'one/report.md': '![a](a.png)\n\nThe end', 'two/report.md': '![b](b.png)\n\nThe end' }
    const { asked, rerender } = await show(contents, 'one/report.md')
    await screen.findByRole('img', { name: 'a' })
    await rerender({ path: 'two/report.md' })
    await screen.findByRole('img', { name: 'b' })
    expect(asked()).toEqual(['one%2Fa', 'two%2Fb'].map((path) => `/sessions/s/files/download?path=${path}.png`))
  })
  it('fetches no more than so many', async () => {
    const many = Array.from({ length: MOST_PICTURES + 5 }, (_, at) => `![n${at}](${at}.png)`).join('\n\n')
    const { asked } = await show(`${many}\n\nThe end`)
    await vi.waitFor(() => expect(screen.getAllByRole('img')).toHaveLength(MOST_PICTURES))
    expect(asked()).toHaveLength(MOST_PICTURES)
  })
  it('keeps no more than so much of them together, and a small one still fits', async () => {
    const size = 6_000_000
    const fit = Math.floor(LARGEST_TOGETHER_BYTES / size)
    const sizes = [...Array.from({ length: fit + 1 }, () => size), PNG.length]
    const left = [...sizes]
    answer = () => {
      const bytes = new Uint8Array(left.shift() ?? 0)
      bytes.set(PNG)
      return new Response(bytes)
    }
    await show(`${sizes.map((_, at) => `![n${at}](${at}.png)`).join('\n\n')}\n\nThe end`)
    const shown = [...Array.from({ length: fit }, (_, at) => `n${at}`), `n${fit + 1}`]
    await vi.waitFor(() => expect(screen.getAllByRole<HTMLImageElement>('img').map((one) => one.alt)).toEqual(shown), {
      timeout: 4000,
    })
  })
})
