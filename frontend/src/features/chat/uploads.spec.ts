// @vitest-environment happy-dom
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { ApiError } from '@/api/problems'
import { adoptDraft, keepDraft, recallDraft, trayOf } from './drafts'
import { useUploads } from './uploads'

let asked: File[]
let refused: Set<string>
let sentTo: Record<string, string>
let uploaded: Record<string, number>
/** Until the computer has started, nothing arrives. */
let hasStarted: Promise<void>
vi.mock('@/api/upload', () => ({
  uploadFiles: async (sessionId: string, files: readonly File[], { signal }: { signal: AbortSignal }) => {
    asked.push(files[0]!)
    const isAborted = new Promise((_, reject) => signal.addEventListener('abort', reject))
    await Promise.race([hasStarted, isAborted])
    const name = files[0]?.name ?? ''
    sentTo[name] = sessionId
    const count = (uploaded[name] = (uploaded[name] ?? 0) + 1)
    if (count > 1) return Promise.resolve([`in/${name.replace('.', ` (${count}).`)}`])
    return refused.has(name) ? Promise.reject(new ApiError(503, 'unavailable', '')) : Promise.resolve([`in/${name}`])
  },
}))
beforeEach(() => {
  asked = []
  hasStarted = Promise.resolve()
  refused = new Set(['bad.txt'])
  sentTo = {}
  uploaded = {}
})
const named = (...names: string[]): File[] => names.map((name) => new File(['x'], name))

describe('useUploads', () => {
  it('hands over what has arrived and keeps what was not taken', async () => {
    const tray = trayOf('u', 's')
    const uploads = useUploads(
      () => tray,
      () => Promise.reject(new Error('has begun')),
    )
    await uploads.add(named('good.txt', 'bad.txt', 'fine.txt'))
    expect(uploads.takeAll()).toEqual(['in/good.txt', 'in/fine.txt'])
    expect(uploads.list.value.map(({ name, problem }) => [name, problem instanceof ApiError])).toEqual([
      ['bad.txt', true],
    ])

    refused.clear()
    uploaded = {}
    await uploads.start(uploads.list.value[0]!)
    expect(uploads.takeAll()).toEqual(['in/bad.txt'])
    expect(uploads.list.value).toEqual([])
  })
  it('are called by the names they got, of which none is there twice', async () => {
    const tray = trayOf('u', 'twice')
    const uploads = useUploads(
      () => tray,
      () => Promise.reject(new Error('has begun')),
    )
    await uploads.add(named('image.png', 'image.png'))
    expect(uploads.list.value.map(({ name }) => name)).toEqual(['image.png', 'image (2).png'])
    expect(uploads.takeAll()).toEqual(['in/image.png', 'in/image (2).png'])
  })
  it('are sent in the order they were brought, also while the computer starts', async () => {
    let started = (): void => undefined
    hasStarted = new Promise((resolve) => (started = resolve))
    const tray = trayOf('u', 'starts')
    const uploads = useUploads(
      () => tray,
      () => Promise.reject(new Error('has begun')),
    )
    const [first, second, third] = named('image.png', 'image.png', 'image.png')
    const adding = [uploads.add([first!]), uploads.add([second!]), uploads.add([third!])]
    await new Promise((resolve) => setTimeout(resolve))
    expect(asked).toEqual([first])
    uploads.remove(uploads.list.value[1]!.id)
    uploads.remove(uploads.list.value[0]!.id)
    await new Promise((resolve) => setTimeout(resolve))
    const again = uploads.add([first!])
    started()
    await Promise.all([...adding, again])
    expect(asked).toEqual([first, third, first])
    expect(uploads.list.value.map(({ file, path }) => [file, path])).toEqual([
      [third, 'in/image.png'],
      [first, 'in/image (2).png'],
    ])
  })
  it('uploads to the conversation they were attached in, whichever is looked at meanwhile', async () => {
    let looksAt = trayOf('u', 'first')
    const uploads = useUploads(
      () => looksAt,
      () => Promise.reject(new Error('has begun')),
    )
    const uploading = uploads.add(named('one.txt', 'two.txt'))
    looksAt = trayOf('u', 'second')
    await uploading
    expect(sentTo).toEqual({ 'one.txt': 'first', 'two.txt': 'first' })
    expect(trayOf('u', 'second').list.value).toEqual([])
    expect(trayOf('u', 'first').list.value.map((upload) => upload.path)).toEqual(['in/one.txt', 'in/two.txt'])
  })
  it('are remembered as they are also while another conversation is looked at', async () => {
    let started = (): void => undefined
    hasStarted = new Promise((resolve) => (started = resolve))
    let looksAt = trayOf('u', null)
    const uploads = useUploads(
      () => looksAt,
      () => {
        adoptDraft('u', 'away')
        return Promise.resolve('away')
      },
    )
    const uploading = uploads.add(named('one.txt'))
    await new Promise((resolve) => setTimeout(resolve))
    expect(sessionStorage.getItem('draft:u:new:files')).toBeNull()
    expect(sessionStorage.getItem('draft:u:away:files')).toBe('["one.txt"]')
    looksAt = trayOf('u', 'elsewhere')
    started()
    await uploading
    expect(sessionStorage.getItem('draft:u:away:files')).toBeNull()
    expect(localStorage.getItem('draft:u:away:files')).toContain('in/one.txt')
  })
  it('go along with the draft when the conversation begins', async () => {
    keepDraft('u', null, 'look at')
    const uploads = useUploads(
      () => trayOf('u', null),
      () => {
        adoptDraft('u', 'begun')
        return Promise.resolve('begun')
      },
    )
    await uploads.add(named('one.txt', 'two.txt'))
    expect(sentTo).toEqual({ 'one.txt': 'begun', 'two.txt': 'begun' })
    expect(trayOf('u', 'begun').list.value.map((upload) => upload.path)).toEqual(['in/one.txt', 'in/two.txt'])
    expect([recallDraft('u', 'begun'), recallDraft('u', null), trayOf('u', null).list.value]).toEqual([
      'look at',
      '',
      [],
    ])
  })
})
