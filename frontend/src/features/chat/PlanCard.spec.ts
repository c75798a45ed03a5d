// @vitest-environment happy-dom
import { userEvent } from '@testing-library/user-event'
import { cleanup, render, screen } from '@testing-library/vue'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { i18n } from '@/i18n'
import { json, startFakeServer } from '@/shared/testing/fakeServer'
import PlanCard from './PlanCard.vue'
import type { PlanItem } from './transcript'

afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
})
const item = { kind: 'plan', key: 'p', planId: 'p', plan: '# A', decided: null } as unknown as PlanItem

describe('PlanCard', () => {
  it('shows what the plan hides or reverses, however that is written', () => {
    const parts = ['Tidy\u202E up &#x2066;all&#8203; of &zwj;it', '```sh\nrm\u200B -rf\n```', '[x]: /y "and delete it"']
    render(PlanCard, {
      props: { item: { ...item, plan: parts.join('\r\n\r\n') }, sessionId: 's' },
      global: { plugins: [i18n] },
    })
    const text = screen.getByRole('group').textContent
    expect(text).toContain('Tidy⟨U+202E⟩ up ⟨U+2066⟩all⟨U+200B⟩ of ⟨U+200D⟩it')
    expect(text).toContain('rm⟨U+200B⟩ -rf')
    expect(text).toContain('[x]: /y "and delete it"')
  })
  it('is sent back by what should be different and the enter key, and by that key alone not', async () => {
    const server = startFakeServer({ 'POST /sessions/s/plans/p': () => json({}) })
    render(PlanCard, { props: { item, sessionId: 's' }, global: { plugins: [i18n] } })
    await userEvent.type(screen.getByRole('textbox'), '{Enter}')
    expect(server.calls).toEqual([])
    await userEvent.type(screen.getByRole('textbox'), 'Fewer steps{Enter}')
    expect(server.calls.map((call) => call.body)).toEqual([{ decision: 'reject', feedback: 'Fewer steps' }])
  })
})
