// @vitest-environment happy-dom
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { effectScope, nextTick, ref, type EffectScope } from 'vue'
import { json, problem, startFakeServer, type FakeServer } from '@/shared/testing/fakeServer'
import { RENEW_MS, useControl, type Driver } from './useControl'

let server: FakeServer
let held: Driver | null = null
const notes: unknown[] = []
let scope: EffectScope
const lost = vi.fn()
const told = ref<Driver | null | undefined>()
const session = ref('s')

function open(): ReturnType<typeof useControl> {
  const opened = scope.run(() =>
    useControl(
      () => session.value,
      () => told.value,
      () => true,
      lost,
    ),
  )
  if (!opened) throw new Error('no scope')
  return opened
}
const settled = (ms = 10): Promise<unknown> => vi.advanceTimersByTimeAsync(ms)

function routes(path: string): Parameters<typeof startFakeServer>[0] {
  return {
    [`GET ${path}`]: () => json(held),
    [`POST ${path}`]: ({ body }) => {
      const { client, take_over: takesOver } = body as { client: string; take_over: boolean }
      if (held && held.client !== client && !takesOver) return problem(409, 'control_held', 'Bob controls it.')
      held = { client, holder: 'Anna' }
      return json(held)
    },
    [`PUT ${path}`]: ({ body }) =>
      held?.client === (body as Driver).client ? json(held) : problem(409, 'control_lost', 'Gone.'),
    [`DELETE ${path}`]: ({ body }) => {
      notes.push((body as { note: unknown }).note)
      held = null
      return new Response(null, { status: 204 })
    },
  }
}

beforeEach(() => {
  vi.useFakeTimers()
  const answers: Parameters<typeof startFakeServer>[0] = {}
  for (const id of ['s', 'other']) Object.assign(answers, routes(`/sessions/${id}/control`))
  server = startFakeServer(answers)
  scope = effectScope()
  held = null
  notes.length = 0
  told.value = undefined
  session.value = 's'
  lost.mockClear()
})
afterEach(() => {
  scope.stop()
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

it('renews the lease while it has it, and hands it back with a note', async () => {
  const wheel = open()
  expect(await wheel.take()).toBe(true)
  expect([wheel.driver.value?.client, wheel.isElsewhere.value]).toEqual([wheel.client, false])
  await settled(RENEW_MS * 3 + 100)
  expect(server.calls.filter(({ method }) => method === 'PUT')).toHaveLength(3)
  await wheel.handBack('Signed in.')
  await settled(RENEW_MS * 3)
  expect([notes, wheel.driver.value]).toEqual([['Signed in.'], null])
  expect(server.calls.filter(({ method }) => method === 'PUT')).toHaveLength(3)
  expect(lost).not.toHaveBeenCalled()
})
it('sees who drives elsewhere, and takes it over only then', async () => {
  held = { client: 'another-window', holder: 'Bob' }
  const wheel = open()
  await settled()
  expect([wheel.isElsewhere.value, wheel.driver.value?.holder]).toEqual([true, 'Bob'])
  expect(await wheel.take()).toBe(true)
  expect((held as Driver | null)?.client).toBe(wheel.client)
})
it('is refused where another window was first, and says who that is', async () => {
  const wheel = open()
  await settled()
  held = { client: 'another-window', holder: 'Bob' }
  expect(await wheel.take()).toBe(false)
  await settled()
  expect([wheel.isElsewhere.value, wheel.problem.value]).toMatchObject([true, { code: 'control_held' }])
})
it.each([
  ['the stream tells that another has it', () => (told.value = { client: 'another-window', holder: 'Bob' })],
  ['the stream tells that it is over', () => (told.value = null)],
  ['it is not renewed any more', () => (held = null)],
])('has lost control once %s', async (_, happen) => {
  const wheel = open()
  await wheel.take()
  told.value = { client: wheel.client, holder: 'Anna' }
  await nextTick()
  happen()
  await settled(RENEW_MS + 100)
  expect(lost).toHaveBeenCalledTimes(1)
  expect(wheel.driver.value?.client).not.toBe(wheel.client)
})
it('hands back where the page or the conversation is left', async () => {
  const wheel = open()
  await wheel.take()
  session.value = 'other'
  await settled()
  await wheel.take()
  scope.stop()
  await settled()
  expect(server.calls.filter(({ method }) => method === 'DELETE').map(({ path }) => path)).toEqual([
    expect.stringContaining('/s/'),
    expect.stringContaining('/other/'),
  ])
})
