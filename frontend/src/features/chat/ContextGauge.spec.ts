// @vitest-environment jsdom
import { render, screen } from '@testing-library/vue'
import userEvent from '@testing-library/user-event'
import { describe, expect, it } from 'vitest'
import { i18n } from '@/i18n'
import ContextGauge from './ContextGauge.vue'

describe('ContextGauge', () => {
  it('says how full the context is, and has it summed up with what is to be kept', async () => {
    const { emitted } = render(ContextGauge, {
      props: { tokens: 50_000, window: 200_000 },
      global: { plugins: [i18n] },
    })
    await userEvent.click(screen.getByRole('button', { name: /25\s?%/ }))
    await userEvent.type(screen.getByRole('textbox'), '  the colours ')
    await userEvent.keyboard('{Enter}')
    expect(emitted('compact')).toEqual([['the colours']])
    await userEvent.click(screen.getByRole('button', { name: /25\s?%/ }))
    await userEvent.click(screen.getByRole('button', { name: 'Sum up' }))
    expect(emitted('compact')).toEqual([['the colours'], [null]])
  })
  it('warns in a colour of its own, which that of a button does not hide', () => {
    const { container } = render(ContextGauge, {
      props: { tokens: 150_000, window: 200_000 },
      global: { plugins: [i18n] },
    })
    expect(container.querySelector('svg')?.classList.contains('text-careful')).toBe(true)
  })
})
