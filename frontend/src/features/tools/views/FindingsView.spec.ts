// @vitest-environment happy-dom
import { cleanup, render, screen, within } from '@testing-library/vue'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createMemoryHistory, createRouter } from 'vue-router'
import type { Display } from '@/api/types'
import { i18n, setLanguage } from '@/i18n'
import { startFakeServer } from '@/shared/testing/fakeServer'
import type { ToolCard } from '../body/card'
import FindingsView from './FindingsView.vue'

afterEach(async () => {
  cleanup()
  vi.unstubAllGlobals()
  await setLanguage('en')
})
type FindingsDisplay = Extract<Display, { type: 'findings' }>
type Item = FindingsDisplay['items'][number]
const finding = (changes: Partial<Item> = {}): Item => ({
  claim: 'Trees need water.',
  quote: 'A tree without water dies in summer.',
  record: 'rec_1',
  title: 'Of trees',
  place: '1. Introduction (page 3)',
  url: 'https://doi.org/10.1000/trees',
  ...changes,
})
function show(display: ToolCard['display'], output = '') {
  const card: ToolCard = {
    key: 'tool:1',
    callId: 'c',
    name: 'findings_submit',
    arguments: {},
    phrase: 'Handing in findings',
    outcome: 'succeeded',
    startedAt: null,
    durationMs: 1,
    output,
    preview: output,
    display,
    body: null,
  }
  const router = createRouter({
    history: createMemoryHistory(),
    routes: [{ path: '/:rest(.*)*', component: FindingsView }],
  })
  render(FindingsView, { props: { card, sessionId: 's' }, global: { plugins: [i18n, router] } })
}
const findings = (items: Item[], refused = 0): FindingsDisplay => ({ type: 'findings', items, refused })

describe('findings of a research agent', () => {
  it('show each claim with its passage, its place, its record and the source', () => {
    show(findings([finding(), finding({ claim: 'It was so.', record: 'rec_2', title: 'A study', place: 'abstract' })]))
    const [first, second] = within(screen.getByRole('list', { name: 'Findings' })).getAllByRole('listitem')
    const one = within(first!)
    expect(one.getByText('Trees need water.')).toBeTruthy()
    expect(first!.querySelector('blockquote')?.textContent).toBe('A tree without water dies in summer.')
    expect(first!.textContent).toContain('1. Introduction (page 3)')
    expect(one.getByRole('link', { name: 'Of trees' }).getAttribute('href')).toBe('/corpus?record=rec_1')
    const source = one.getByRole('link', { name: 'Source' })
    expect([source.getAttribute('href'), source.getAttribute('rel')]).toEqual([
      'https://doi.org/10.1000/trees',
      'noopener noreferrer',
    ])
    expect(within(second!).getByRole('link', { name: 'A study' }).getAttribute('href')).toBe('/corpus?record=rec_2')
    expect(screen.queryByText(/refused/)).toBeNull()
  })
  it.each([
    [1, 'en', 'One did not hold to what was read and was refused.'],
    [3, 'en', '3 did not hold to what was read and were refused.'],
    [3, 'zh', '有 3 条与所读内容不符，已被拒绝。'],
  ])('say how many were refused (%i, %s)', async (refused, language, words) => {
    await setLanguage(language)
    show(findings([finding()], refused))
    expect(await screen.findByText(words)).toBeTruthy()
  })
  it.each(['javascript:alert(1)', 'data:text/html,x', ''])('have no link to what is no page of the web: %s', (url) => {
    show(findings([finding({ url })]))
    expect(screen.queryByRole('link', { name: 'Source' })).toBeNull()
    expect(screen.getAllByRole('link')).toHaveLength(1)
  })
  it('are texts, not markup, with what can’t be seen written out', () => {
    show(findings([finding({ claim: '<img src=x> a\u202Eb', quote: '<script>x</script>', title: '[a](b)' })]))
    expect(document.querySelector('img, script')).toBeNull()
    expect(screen.getByText('<img src=x> a⟨U+202E⟩b')).toBeTruthy()
    expect(screen.getByText('<script>x</script>')).toBeTruthy()
    expect(screen.getByRole('link', { name: '[a](b)' })).toBeTruthy()
  })
  it('are the plain result where none held', async () => {
    startFakeServer({})
    show(null, 'Finding 1 was refused: it names no section and no page.')
    expect(await screen.findByText(/Finding 1 was refused/)).toBeTruthy()
    expect(screen.queryByRole('list', { name: 'Findings' })).toBeNull()
  })
})
