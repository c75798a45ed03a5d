// @vitest-environment jsdom
import { userEvent } from '@testing-library/user-event'
import { render, screen } from '@testing-library/vue'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Usage } from '@/api/generated/events'
import { useSettingsPage } from '@/features/settings'
import { i18n, setLanguage } from '@/i18n'
import { face } from '@/shared/lib/face'
import RunEndLine from './RunEndLine.vue'
import type { EndItem } from './transcript'

const nothing: Usage = {
  input: 0,
  cached: 0,
  output: 0,
  thinking: 0,
  cache_write: 0,
  new: 0,
  cost: null,
  known_cost: 0,
  by_model: {},
  costs: {},
}

beforeEach(() => {
  setActivePinia(createPinia())
  face.value = 'developer'
})

const completed: EndItem = {
  kind: 'end',
  key: '1',
  runId: 'r',
  status: 'completed',
  reason: null,
  code: null,
  retryable: false,
  files: [],
  durationMs: 5,
  usage: nothing,
}

function shown(usage: Partial<Usage>): string {
  const end: EndItem = { ...completed, usage: { ...nothing, input: 1_000, ...usage } }
  const { container, unmount } = render(RunEndLine, { props: { end, canRetry: false }, global: { plugins: [i18n] } })
  const text = container.textContent
  unmount()
  return text
}

describe('the cost of a run', () => {
  afterEach(() => setLanguage('en'))

  it('is shown to who looks at every step', () => {
    face.value = 'user'
    expect(shown({ cost: 1.234, known_cost: 1.234 })).toBe('')
  })
  it('is shown beside its tokens, also where it is less than a cent', () => {
    expect(shown({ cost: 1.234, known_cost: 1.234 })).toMatch(/1,000 tokens· 1\.23 US\$/)
    expect(shown({ cost: 0.0042, known_cost: 0.0042 })).toMatch(/ 0\.0042 US\$/)
    expect(shown({ cost: 0.00000042, known_cost: 0.00000042 })).toMatch(/< 0\.0001 US\$/)
    expect(shown({ cost: 0 })).toMatch(/ 0\.00 US\$/)
  })
  it('is said to be unknown, or more than what is known, where a part of it has no price', () => {
    expect(shown({})).toMatch(/cost unknown/)
    expect(shown({ known_cost: 0.5 })).toMatch(/at least 0\.50 US\$/)
    expect(shown({ known_cost: 0.00000042 })).toMatch(/cost unknown/)
    setLanguage('zh')
    expect(shown({})).toMatch(/费用未知/)
  })
  it('is not told of a run that asked no model', () => {
    expect(shown({ input: 0 })).not.toMatch(/cost|US\$/)
  })
})

it('does not say done where the model said nothing', () => {
  const global = { plugins: [i18n] }
  const { container } = render(RunEndLine, {
    props: { end: { ...completed, code: 'silent' }, canRetry: false },
    global,
  })
  expect(container.textContent).toMatch(/No answer· 5 ms/)
  expect(container.querySelector('.lucide-circle-check')).toBeNull()
})

it('leads to the keys where one was refused or its provider did not answer, and nowhere where something else went wrong', async () => {
  const end: EndItem = { ...completed, status: 'failed', reason: 'It refused the key (401).', code: 'model_auth' }
  const global = { plugins: [i18n] }
  const { rerender } = render(RunEndLine, { props: { end, canRetry: true }, global })
  expect(screen.getByRole('button', { name: 'Try again' })).toBeTruthy()
  await userEvent.click(screen.getByRole('button', { name: 'Models and keys' }))
  expect(useSettingsPage().shown).toBe('models')
  await rerender({ end: { ...end, code: 'model_unavailable' } })
  expect(screen.getByRole('button', { name: 'Models and keys' })).toBeTruthy()
  await rerender({ end: { ...end, code: 'upstream' } })
  expect(screen.queryByRole('button', { name: 'Models and keys' })).toBeNull()
})
