// @vitest-environment happy-dom
import { cleanup, render, screen } from '@testing-library/vue'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { effectScope, ref, type EffectScope } from 'vue'
import { i18n } from '@/i18n'
import { json, startFakeServer } from '@/shared/testing/fakeServer'
import type { Computer } from './computer'
import ComputerState from './ComputerState.vue'
import { AGAIN_MS, endOf, MAY_COME_MS, SOON_MS, useComputer } from './useComputer'

const idle: Computer = {
  status: 'none',
  reason: null,
  hasDesktop: true,
  queuePosition: null,
  isAtOwnLimit: false,
  warning: null,
}

const now = Date.parse('2026-01-01T12:00:00Z')
const warning = { endsAt: '2026-01-01T12:04:00Z', expiresAt: '2026-01-01T20:00:00Z' }

let scope: EffectScope
beforeEach(() => {
  vi.useFakeTimers()
  scope = effectScope()
})
afterEach(() => {
  scope.stop()
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

describe('the end of a computer', () => {
  it('is told with its minutes, and whether using it helps', () => {
    expect(endOf({ warning }, now)).toEqual({ minutes: 4, canKeep: true })
    expect(endOf({ warning: { ...warning, expiresAt: warning.endsAt } }, now)).toEqual({ minutes: 4, canKeep: false })
  })
  it('is not spoken of while nothing warns of it', () => {
    expect(endOf({ warning: null }, now)).toBeNull()
  })
})

describe('a start that no run waits for any more', () => {
  it('is looked after until it has come to its end', async () => {
    let status = 'starting'
    const server = startFakeServer({ 'GET /sessions/s/sandbox': () => json({ status, seq: 1 }) })
    const computer = ref<Computer>({ ...idle, status: 'starting' })
    const isRunning = ref(true)
    scope.run(() =>
      useComputer(
        () => 's',
        () => computer.value,
        (told) => (computer.value = { ...idle, status: told.status }),
        () => isRunning.value,
      ),
    )
    await vi.advanceTimersByTimeAsync(3 * SOON_MS)
    expect(server.calls).toHaveLength(1)
    isRunning.value = false
    await vi.advanceTimersByTimeAsync(3.5 * SOON_MS)
    expect(server.calls).toHaveLength(5)
    status = 'ready'
    await vi.advanceTimersByTimeAsync(SOON_MS)
    expect(computer.value.status).toBe('ready')
    const asked = server.calls.length
    await vi.advanceTimersByTimeAsync(3 * SOON_MS)
    expect(server.calls).toHaveLength(asked)
  })
})

describe('a start that is nowhere yet when its run is stopped', () => {
  it('is looked for a little longer', async () => {
    let status = 'none'
    const server = startFakeServer({ 'GET /sessions/s/sandbox': () => json({ status, seq: 1 }) })
    const computer = ref<Computer>({ ...idle, status: 'starting' })
    const isRunning = ref(true)
    const answered = (told: { status: Computer['status'] }) =>
      isRunning.value || (computer.value = { ...idle, status: told.status })
    scope.run(() =>
      useComputer(
        () => 's',
        () => computer.value,
        answered,
        () => isRunning.value,
      ),
    )
    isRunning.value = false
    await vi.advanceTimersByTimeAsync(2 * SOON_MS)
    expect(computer.value.status).toBe('none')
    status = 'starting'
    await vi.advanceTimersByTimeAsync(SOON_MS)
    expect(computer.value.status).toBe('starting')
    status = 'none'
    await vi.advanceTimersByTimeAsync(MAY_COME_MS + SOON_MS)
    const asked = server.calls.length
    await vi.advanceTimersByTimeAsync(4 * SOON_MS)
    expect(server.calls).toHaveLength(asked)
  })
})

describe('a start that may still come', () => {
  it('is looked for in its own conversation alone', async () => {
    const none = () => json({ status: 'none', seq: 1 })
    const server = startFakeServer({ 'GET /sessions/s/sandbox': none, 'GET /sessions/other/sandbox': none })
    const shown = ref('s')
    const computer = ref<Computer>({ ...idle, status: 'starting' })
    scope.run(() =>
      useComputer(
        () => shown.value,
        () => computer.value,
        () => undefined,
        () => false,
      ),
    )
    computer.value = idle
    await vi.advanceTimersByTimeAsync(SOON_MS)
    shown.value = 'other'
    await vi.advanceTimersByTimeAsync(4 * SOON_MS)
    expect(server.calls.filter(({ path }) => path === '/sessions/other/sandbox')).toHaveLength(1)
  })
})

describe('a start by hand that stands in line', () => {
  function begin(answer: () => Response, session = () => 's') {
    const server = startFakeServer({
      'GET /sessions/s/sandbox': () => json({ status: 'none', seq: 1 }),
      'GET /sessions/other/sandbox': () => json({ status: 'none', seq: 1 }),
      'POST /sessions/s/sandbox': answer,
    })
    const statuses: string[] = []
    const used = scope.run(() =>
      useComputer(
        session,
        () => idle,
        (told) => statuses.push(told.status),
        () => false,
      ),
    )
    if (!used) throw new Error('the scope is over')
    return { server, statuses, ...used, asked: () => server.calls.filter(({ method }) => method === 'POST').length }
  }
  const queued = () => json({ status: 503, code: 'computer_queued', detail: 'In line.' }, 503)

  it('is asked for again until it is there, and no problem is shown', async () => {
    let answer = queued
    const { start, asked, statuses, isStarting, problem } = begin(() => answer())
    const starting = start()
    await vi.advanceTimersByTimeAsync(2.5 * AGAIN_MS)
    expect(asked()).toBe(3)
    expect([isStarting.value, problem.value]).toEqual([true, null])
    answer = () => json({ status: 'ready', seq: 2 })
    await vi.advanceTimersByTimeAsync(AGAIN_MS)
    await starting
    expect([statuses.at(-1), isStarting.value, problem.value]).toEqual(['ready', false, null])
  })
  it('ends with what waiting in vain is told', async () => {
    const { start, asked, problem } = begin(() => json({ status: 503, code: 'computer_unavailable', detail: 'x' }, 503))
    await start()
    expect(asked()).toBe(1)
    expect(problem.value).toMatchObject({ code: 'computer_unavailable' })
  })
  it('is not asked for any more once another conversation is shown, or none', async () => {
    const shown = ref('s')
    const { start, asked } = begin(queued, () => shown.value)
    void start()
    await vi.advanceTimersByTimeAsync(0.5 * AGAIN_MS)
    shown.value = 'other'
    await vi.advanceTimersByTimeAsync(5 * AGAIN_MS)
    expect(asked()).toBe(1)
    shown.value = 's'
    void start()
    await vi.advanceTimersByTimeAsync(0.5 * AGAIN_MS)
    scope.stop()
    await vi.advanceTimersByTimeAsync(5 * AGAIN_MS)
    expect(asked()).toBe(2)
  })
})

describe('what is said of a computer that starts', () => {
  afterEach(cleanup)
  const show = (wasStopped: boolean, isStarting = false) =>
    render(ComputerState, {
      props: { computer: { ...idle, status: 'starting' }, isStarting, wasStopped, problem: '' },
      global: { plugins: [i18n] },
    })

  it.each([
    [false, false, /This takes a few seconds/],
    [true, false, /The agent has stopped\. The computer finishes starting/],
    [true, true, /This takes a few seconds/],
  ])('after a stop (%s) and asked for by hand (%s)', (wasStopped, isStarting, words) => {
    show(wasStopped, isStarting)
    expect(screen.getByText(words)).toBeTruthy()
  })
})
