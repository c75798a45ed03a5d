// @vitest-environment happy-dom
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { ApiError } from '@/api/problems'
import { adoptDraft, keepDraft, recallDraft, trayOf } from './drafts'
import { useUploads } from './uploads'

let refused: Set<string>
let sentTo: Record<string, string>
let uploaded: Record<string, number>
vi.mock('@/api/upload', () => ({
  uploadFiles: (sessionId: string, files: readonly File[]) => {
    const name = files[0]?.name ?? ''
    sentTo[name] = sessionId
    const count = (uploaded[name] = (uploaded[name] ?? 0) + 1)
    if (count > 1) return Promise.resolve([`in/${name.replace('.', ` (${count}).`)}`])
    return refused.has(name) ? Promise.reject(new ApiError(503, 'unavailable', '')) : Promise.resolve([`in/${name}`])
  },
}))
beforeEach(() => {
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
