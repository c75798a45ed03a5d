// @vitest-environment happy-dom
import { cleanup, render, screen } from '@testing-library/vue'
import { afterEach, expect, it, vi } from 'vitest'
import { nextTick } from 'vue'
import { i18n } from '@/i18n'
import AwaitedLine from './AwaitedLine.vue'

afterEach(() => {
  cleanup()
  vi.useRealTimers()
})

it('says after a while that the computer does not answer, and what becomes of the files', async () => {
  vi.useFakeTimers()
  render(AwaitedLine, { global: { plugins: [i18n] } })
  expect(screen.getByRole('status').textContent).toBe('Loading…')
  vi.advanceTimersByTime(3_500)
  await nextTick()
  expect(screen.getByRole('status').textContent).toMatch(/has not answered yet.*files are kept/)
})
