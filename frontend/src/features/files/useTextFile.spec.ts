// @vitest-environment happy-dom
import { afterEach, expect, it, vi } from 'vitest'
import { effectScope } from 'vue'
import { json, problem, startFakeServer, type FakeServer } from '@/shared/testing/fakeServer'
import { useTextFile } from './useTextFile'

let there: { content: string; etag: string } | null = null
let server: FakeServer
const scope = effectScope()
afterEach(() => vi.unstubAllGlobals())

async function opened(content: string) {
  there = { content, etag: 'e1' }
  server = startFakeServer({
    'GET /sessions/s/files/text': () =>
      there
        ? json({ path: 'a', name: 'a', size: 1, encoding: 'UTF-8', language: null, reason: null, ...there })
        : problem(404, 'file_not_found'),
    'PUT /sessions/s/files/text': ({ body }) => {
      const given = body as { content: string; if_match: string | null }
      if (given.if_match !== (there?.etag ?? null)) return problem(412, 'file_changed')
      there = { content: given.content, etag: `${given.if_match ?? 'new'}+` }
      return json({ path: 'a', size: 1, etag: there.etag })
    },
  })
  const file = scope.run(() =>
    useTextFile(
      () => 's',
      () => 'a',
    ),
  )!
  await file.load()
  return file
}

it('saves over what was read, again and again', async () => {
  const file = await opened('one')
  expect(file.isChanged.value).toBe(false)
  file.text.value = 'two'
  expect(file.isChanged.value).toBe(true)
  expect(await file.save()).toBe(true)
  expect(file.isChanged.value).toBe(false)
  file.text.value = 'three'
  expect(await file.save()).toBe(true)
  expect(there).toEqual({ content: 'three', etag: 'e1++' })
})

it('keeps the line breaks of the file', async () => {
  const file = await opened('one\r\ntwo\r\n')
  expect(file.text.value).toBe('one\ntwo\n')
  file.text.value = 'one\nthree\n'
  await file.save()
  expect(there?.content).toBe('one\r\nthree\r\n')
  expect(file.isChanged.value).toBe(false)
})

it('overwrites nothing newer before the person has seen it', async () => {
  const file = await opened('one')
  there = { content: 'theirs', etag: 'e9' }
  file.text.value = 'mine'
  expect(await file.save()).toBe(false)
  expect([there.content, file.newer.value?.content, file.text.value]).toEqual(['theirs', 'theirs', 'mine'])
  there = { content: 'newer still', etag: 'e10' }
  expect(await file.saveOver()).toBe(false)
  expect([there.content, file.newer.value?.content]).toEqual(['newer still', 'newer still'])
  expect(await file.saveOver()).toBe(true)
  expect([there.content, file.newer.value]).toEqual(['mine', undefined])
})

it('takes the newer text, and saves a deleted file anew', async () => {
  const file = await opened('one')
  there = { content: 'theirs', etag: 'e9' }
  file.text.value = 'mine'
  await file.save()
  file.takeNewer()
  expect([file.text.value, file.isChanged.value, file.newer.value]).toEqual(['theirs', false, undefined])
  there = null
  file.text.value = 'mine'
  await file.save()
  expect(file.newer.value).toBeNull()
  expect(await file.saveOver()).toBe(true)
  expect(server.calls.at(-1)?.body).toEqual({ path: 'a', content: 'mine', if_match: null })
})
