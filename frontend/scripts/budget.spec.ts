import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { copiesOf } from './compress.ts'

/** What the wire carries until the page can be used, of a browser that takes gzip alone: the larger of the two. */
const FIRST_PAINT_KB = 205
const CONVERSATION_KB = 320
const DIST = fileURLToPath(new URL('../dist', import.meta.url))

interface Chunk {
  readonly file: string
  readonly isEntry?: boolean
  readonly imports?: readonly string[]
  readonly css?: readonly string[]
}
type Manifest = Readonly<Record<string, Chunk>>

/** The files that these parts need, with all that they import at once. */
function filesOf(manifest: Manifest, keys: readonly string[]): Set<string> {
  const seen = new Set<string>()
  const files = new Set<string>()
  const walk = (key: string): void => {
    const chunk = manifest[key]
    if (!chunk || seen.has(key)) return
    seen.add(key)
    for (const file of [chunk.file, ...(chunk.css ?? [])]) files.add(file)
    chunk.imports?.forEach(walk)
  }
  keys.forEach(walk)
  return files
}

function kilobytes(files: Iterable<string>): number {
  const sizes = [...files].map((file) => {
    const packed = join(DIST, `${file}.gz`)
    return statSync(existsSync(packed) ? packed : join(DIST, file)).size
  })
  return sizes.reduce((sum, size) => sum + size, 0) / 1000
}

const isBuilt = existsSync(join(DIST, '.vite/manifest.json'))
if (!isBuilt) console.warn('Skipped: the page is not built (npm run build), so its size is not known.')
if (!isBuilt && process.env['REQUIRE_ALL']) throw new Error('The page is not built: run `npm run build` first.')

it.skipIf(!isBuilt)('sends little until the page can be used, and little more for a conversation', () => {
  const manifest = JSON.parse(readFileSync(join(DIST, '.vite/manifest.json'), 'utf8')) as Manifest
  const entries = Object.keys(manifest).filter((key) => manifest[key]?.isEntry)
  const first = filesOf(manifest, entries)
  const html = readFileSync(join(DIST, 'index.html'), 'utf8')
  for (const [, file] of html.matchAll(/(?:src|href)="\/(assets\/[^"]+)"/g)) first.add(file ?? '')
  first.add('index.html')
  expect(kilobytes(first)).toBeLessThan(FIRST_PAINT_KB)
  // Settings, panels, formulas, the sanitiser, the highlighter and the other language are no part of it.
  const names = [...first].join(' ')
  expect(names).not.toMatch(/Page-|Panel-|katex|MarkdownText|shiki|core-|zh-|rfb-/)
  const conversation = new Set([...first, ...filesOf(manifest, ['src/features/chat/TranscriptView.vue'])])
  expect(conversation.size).toBeGreaterThan(first.size)
  expect(kilobytes(conversation)).toBeLessThan(CONVERSATION_KB)
})
it.skipIf(!isBuilt)('leaves both compressed copies beside what is sent first', () => {
  const html = readFileSync(join(DIST, 'index.html'), 'utf8')
  const named = [...html.matchAll(/(?:src|href)="\/(assets\/[^"]+\.(?:js|css))"/g)].map((match) => match[1] ?? '')
  const large = named.filter((file) => statSync(join(DIST, file)).size >= 1024)
  expect(large.length).toBeGreaterThanOrEqual(3)
  for (const file of large) {
    for (const ending of ['.gz', '.br']) expect(existsSync(join(DIST, file + ending)), file + ending).toBe(true)
  }
})
it('makes no copy that would not be smaller', async () => {
  const text = Buffer.from('const one = 1;\n'.repeat(500))
  const copies = await copiesOf(text)
  expect([...copies.keys()].sort()).toEqual(['.br', '.gz'])
  for (const copy of copies.values()) expect(copy.length).toBeLessThan(text.length)
  expect((await copiesOf(Buffer.from('short'))).size).toBe(0)
  expect((await copiesOf(crypto.getRandomValues(Buffer.alloc(4096)))).size).toBe(0)
})
