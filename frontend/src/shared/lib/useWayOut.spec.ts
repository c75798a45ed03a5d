// @vitest-environment happy-dom
import { userEvent } from '@testing-library/user-event'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { effectScope } from 'vue'
import { useWayOut } from './useWayOut'

const scope = effectScope()
afterEach(() => scope.stop())

describe('the way out of the desktop', () => {
  it('is the three keys together while one drives, before the desktop sees the last of them', async () => {
    const leave = vi.fn()
    const desktop = vi.fn()
    let drives = false
    scope.run(() => useWayOut(() => drives, leave))
    document.body.addEventListener('keydown', desktop)
    await userEvent.keyboard('{Control>}{Alt>}{Shift>}{/Shift}{/Alt}{/Control}')
    expect([leave.mock.calls.length, desktop.mock.calls.length]).toEqual([0, 3])
    drives = true
    await userEvent.keyboard('{Control>}{Alt>}t{/Alt}{/Control}{Tab}{Escape}')
    expect(leave).not.toHaveBeenCalled()
    desktop.mockClear()
    await userEvent.keyboard('{Control>}{Alt>}{Shift>}{/Shift}{/Alt}{/Control}')
    expect([leave.mock.calls.length, desktop.mock.calls.length]).toEqual([1, 2])
  })
})
