// @vitest-environment happy-dom
import { cleanup, render, screen } from '@testing-library/vue'
import { afterEach, describe, expect, it } from 'vitest'
import { i18n } from '@/i18n'
import CompactionLine from './CompactionLine.vue'
import type { CompactionItem } from './transcript'

afterEach(cleanup)

describe('CompactionLine', () => {
  it.each([
    [9000, 120, 'Summed up: 9,000 to 120 tokens'],
    [160, 177, 'Summed up; it was short already'],
  ])('says of %d tokens that became %d what that came to', (before, after, said) => {
    const item = { kind: 'compaction', key: 'c', before, after, summary: 'In short' } as unknown as CompactionItem
    render(CompactionLine, { props: { item }, global: { plugins: [i18n] } })
    expect(screen.getByRole('button').textContent.trim()).toBe(said)
  })
})
