import { beforeEach, describe, expect, it, vi } from 'vitest'
import { ApiError } from '@/api/problems'
import { useUploads } from './uploads'

let refused: Set<string>
vi.mock('@/api/upload', () => ({
  uploadFiles: (_: string, files: readonly File[]) => {
    const name = files[0]?.name ?? ''
    return refused.has(name) ? Promise.reject(new ApiError(503, 'unavailable', '')) : Promise.resolve([`in/${name}`])
  },
}))
beforeEach(() => {
  refused = new Set(['bad.txt'])
})

describe('useUploads', () => {
  it('hands over what has arrived and keeps what was not taken', async () => {
    const uploads = useUploads(() => Promise.resolve('s'))
    await uploads.add(['good.txt', 'bad.txt', 'fine.txt'].map((name) => new File(['x'], name)))
    expect(uploads.takeAll()).toEqual(['in/good.txt', 'in/fine.txt'])
    expect(uploads.list.value.map(({ name, problem }) => [name, problem instanceof ApiError])).toEqual([
      ['bad.txt', true],
    ])

    refused.clear()
    await uploads.start(uploads.list.value[0]!)
    expect(uploads.takeAll()).toEqual(['in/bad.txt'])
    expect(uploads.list.value).toEqual([])
  })
})
