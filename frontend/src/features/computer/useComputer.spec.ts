// @vitest-environment happy-dom
import { cleanup, render, screen } from '@testing-library/vue'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { effectScope, ref, type EffectScope } from 'vue'
import { i18n } from '@/i18n'
import { json, startFakeServer } from '@/shared/testing/fakeServer'
import type { Computer } from './computer'
import ComputerState from './ComputerState.vue'
import { endOf, SOON_MS, useComputer } from './useComputer'

const idle: Computer = { status: 'none', reason: null, hasDesktop: true, queuePosition: null, warning: null }

const now = Date.parse('2026-01-01T12:00:00Z')
const warning = { endsAt: '2026-01-01T12:04:00Z', expiresAt: '2026-01-01T20:00:00Z' }

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
