// @vitest-environment happy-dom
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { effectScope, watch, type EffectScope } from 'vue'
import { ApiError } from '@/api/problems'
import type { UploadOptions } from '@/api/upload'
import { knowUploadLimit } from '@/api/uploadLimit'
import { json, startFakeServer } from '@/shared/testing/fakeServer'
import { useFiles } from './useFiles'

const tooLarge = new ApiError(413, 'upload_too_large', '')
const unreachable = ApiError.unreachable()
let scope: EffectScope
let hasStarted: Promise<void>
let problems: Record<string, ApiError>
let sent: { names: string[]; subdir: string | undefined }[]

vi.mock('@/api/upload', () => ({
  uploadFiles: async (_: string, files: readonly File[], options: UploadOptions) => {
    const names = files.map((file) => file.name)
    sent.push({ names, subdir: options.subdir })
    await hasStarted
    options.onProgress?.(1)
    const problem = problems[names[0] ?? '']
    if (problem) throw problem
    return names
  },
}))

beforeEach(() => {
  scope = effectScope()
  hasStarted = Promise.resolve()
  problems = {}
  sent = []
})
afterEach(() => {
  scope.stop()
  vi.unstubAllGlobals()
})
function open(list: () => Response | Promise<Response> = () => json([])) {
  const server = startFakeServer({ 'GET /sessions/s/files': list })
  const files = scope.run(() =>
    useFiles(
      () => 's',
      () => 0,
      () => false,
    ),
  )!
  return { server, files }
}
const named = (...names: string[]): File[] => names.map((name) => new File(['some'], name))

describe('the tree', () => {
  it('is not set back by a reading that was asked for earlier and came later', async () => {
    const entry = { path: 'new.txt', name: 'new.txt', size: 1, modified_at: '', is_dir: false }
    const answers: ((response: Response) => void)[] = []
    const { files } = open(() => new Promise((resolve) => answers.push(resolve)))
    const readings = [files.refresh(), files.refresh()]
    await vi.waitFor(() => expect(answers).toHaveLength(2))
    answers[1]?.(json([entry]))
    await readings[1]
    answers[0]?.(json([]))
    await readings[0]
    expect(files.rows.value.map((row) => row.entry.name)).toEqual(['new.txt'])
  })
})

describe('upload', () => {
  it('sends what is brought while another is on its way after that', async () => {
    let started = (): void => undefined
    hasStarted = new Promise((resolve) => (started = resolve))
    const { files } = open()
    const uploading = [files.upload(named('image.png'), 'one'), files.upload(named('image.png'), 'two')]
    await new Promise((resolve) => setTimeout(resolve))
    expect(sent.map(({ subdir }) => subdir)).toEqual(['one'])
    started()
    await Promise.all(uploading)
    expect(sent.map(({ subdir }) => subdir)).toEqual(['one', 'two'])
  })
  it('takes every file by itself, so that one which is refused drops no other', async () => {
    const { server, files } = open()
    problems = { 'large.bin': tooLarge, 'late.txt': unreachable }
    await files.upload(named('large.bin', 'a.txt', 'late.txt', 'b.txt'), 'sub')
    expect(sent).toEqual(['large.bin', 'a.txt', 'late.txt', 'b.txt'].map((name) => ({ names: [name], subdir: 'sub' })))
    expect(files.notUploaded.value.map(({ file, error }) => [file.name, error])).toEqual([
      ['large.bin', tooLarge],
      ['late.txt', unreachable],
    ])
    expect(files.progress.value).toBeNull()
    expect(server.calls.map((call) => call.path)).toEqual(['/sessions/s/files?path='])
  })
  it('sends nothing of a file that is known to be too large', async () => {
    const { files } = open()
    knowUploadLimit(4)
    await files.upload([new File(['large'], 'large.bin'), ...named('fits.bin')], '')
    knowUploadLimit(Infinity)
    expect(sent.map(({ names }) => names)).toEqual([['fits.bin']])
    expect(files.notUploaded.value.map(({ file }) => file.name)).toEqual(['large.bin'])
  })
  it('tries again what may succeed, and goes on telling what can not', async () => {
    const { files } = open()
    problems = { 'large.bin': tooLarge, 'late.txt': unreachable }
    await files.upload(named('large.bin', 'late.txt'), '')
    problems = { 'large.bin': tooLarge }
    sent = []
    await files.uploadAgain()
    expect(sent).toEqual([{ names: ['late.txt'], subdir: undefined }])
    expect(files.notUploaded.value.map(({ file }) => file.name)).toEqual(['large.bin'])
  })
  it('tells the share of all bytes', async () => {
    const { files } = open()
    const shares: (number | null)[] = []
    const stop = watch(files.progress, (share) => shares.push(share), { flush: 'sync' })
    await files.upload(named('a.txt', 'b.txt'), '')
    stop()
    expect(shares).toEqual([0, 0.5, 1, null])
  })
})
