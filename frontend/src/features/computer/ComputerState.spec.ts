// @vitest-environment happy-dom
import { cleanup, render, screen } from '@testing-library/vue'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { i18n } from '@/i18n'
import type { Computer } from './computer'
import ComputerState from './ComputerState.vue'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => {
  cleanup()
  vi.useRealTimers()
})

function computer(status: Computer['status']): Computer {
  return { status, reason: null, hasDesktop: true, queuePosition: null, isAtOwnLimit: false, warning: null }
}

describe('ComputerState', () => {
  it('says whether one in line waits for room or for another one of its user, and offers no start', () => {
    const props = { isStarting: false, wasStopped: false, problem: '' }
    const queued = { ...computer('queued'), queuePosition: 3 }
    render(ComputerState, { props: { ...props, computer: queued }, global: { plugins: [i18n] } })
    expect(screen.getByText('All computers are in use. Yours is number 3 in line.')).toBeTruthy()
    cleanup()
    render(ComputerState, {
      props: { ...props, computer: { ...queued, isAtOwnLimit: true } },
      global: { plugins: [i18n] },
    })
    expect(
      screen.getByText(/As many of your computers are running as you may have.*nor its desktop watched/),
    ).toBeTruthy()
    expect(screen.queryByRole('button')).toBeNull()
  })
  it('says once a start takes longer than it usually does, and forgets that with the next one', async () => {
    const props = { computer: computer('starting'), isStarting: false, wasStopped: false, problem: '' }
    const { rerender } = render(ComputerState, { props, global: { plugins: [i18n] } })
    await vi.advanceTimersByTimeAsync(14_000)
    expect(screen.getByText('This takes a few seconds.')).toBeTruthy()
    await vi.advanceTimersByTimeAsync(2_000)
    expect(screen.getByText('This takes longer than usual.')).toBeTruthy()
    await rerender({ ...props, computer: computer('failed') })
    await vi.advanceTimersByTimeAsync(20_000)
    await rerender({ ...props, computer: computer('starting') })
    expect(screen.getByText('This takes a few seconds.')).toBeTruthy()
  })
})
