// @vitest-environment jsdom
import { userEvent } from '@testing-library/user-event'
import { cleanup, render, screen } from '@testing-library/vue'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { i18n } from '@/i18n'
import { json, startFakeServer } from '@/shared/testing/fakeServer'
import PlanCard from './PlanCard.vue'
import type { PlanItem } from './transcript'

afterEach(() => {
  cleanup()
  localStorage.clear()
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
  it.each([
    ['a fence', '```sh and delete all\nls\n```'],
    ['a fence within a list', '- look:\n\n  ~~~ sh and delete all\n  ls\n  ~~~'],
    ['a cell beyond the columns', '| a |\n|---|\n| tidy | and delete all |'],
    ['the same in entities', '| a |\n|---|\n| tidy | and del&#101;te all |'],
    ['the target of a link', 'see [the *notes*](https://example.org/and-delete-all)'],
    ['the target of a picture', '![tidy](and-delete-all.png)'],
    [
      'what the letters of something else are found again in',
      '| a |\n|---|\n| tidy | and delete all |\n| `&and;&radic;&equiv;&le;&lt;&ge;&part;&lang;&le;` |',
    ],
    [
      'what an unnamed picture could stand for',
      '| a |\n|---|\n| tidy | and delete all |\n| ![](/a-n-d-d-e-l-e-t-e-a-l-l.png) |',
    ],
    ['a title', 'see [notes](notes.md "and delete all")'],
    ['what is nested too deep', `${'>'.repeat(120)} and delete all`],
  ])('shows what is written in %s', (_where, plan) => {
    render(PlanCard, { props: { item: { ...item, plan }, sessionId: 's' }, global: { plugins: [i18n] } })
    expect(screen.getByRole('group').textContent).toMatch(/and.del(e|&#101;)te.all/)
  })
  it('sets what hides nothing, and only what does stands there as written', () => {
    const said = 'As it is written, so that all of it is seen:'
    const set = [
      '# 1. Tidy & clean',
      '1. **one** `a < b`\n2. [x] [notes](文档/计划.md) https://example.org\n   ```sh\n   ls\n   ```',
      '| a | b |\n|---|:-:|\n| 1 | \\| |',
      '> costs \\$5, $x^2$ &copy; 2026',
    ].join('\n\n')
    const { unmount } = render(PlanCard, {
      props: { item: { ...item, plan: set }, sessionId: 's' },
      global: { plugins: [i18n] },
    })
    expect(screen.queryByText(said)).toBeNull()
    unmount()
    render(PlanCard, {
      props: { item: { ...item, plan: `${set}\n\n|a|\n|-|\n|b|c|` }, sessionId: 's' },
      global: { plugins: [i18n] },
    })
    expect(screen.getAllByText(said)).toHaveLength(1)
    expect(screen.getByRole('heading', { name: '1. Tidy & clean' })).toBeTruthy()
  })
  it('is sent back by what should be different and the enter key, and by that key alone not', async () => {
    const server = startFakeServer({ 'POST /sessions/s/plans/p': () => json({}) })
    render(PlanCard, { props: { item, sessionId: 's' }, global: { plugins: [i18n] } })
    await userEvent.type(screen.getByRole('textbox'), '{Enter}')
    expect(server.calls).toEqual([])
    await userEvent.type(screen.getByRole('textbox'), 'Fewer steps{Enter}')
    expect(server.calls.map((call) => call.body)).toEqual([{ decision: 'reject', feedback: 'Fewer steps' }])
  })
  it('keeps what was written about it over a reload until it is decided', async () => {
    const show = (one: PlanItem) =>
      render(PlanCard, { props: { item: one, sessionId: 's' }, global: { plugins: [i18n] } })
    show(item)
    await userEvent.type(screen.getByRole('textbox'), 'Smaller')
    cleanup()
    show(item)
    expect(screen.getByRole<HTMLInputElement>('textbox').value).toBe('Smaller')
    cleanup()
    show({ ...item, decided: { decision: 'approve', by: 'user', feedback: '' } } as unknown as PlanItem)
    expect(localStorage.length).toBe(0)
  })
})
