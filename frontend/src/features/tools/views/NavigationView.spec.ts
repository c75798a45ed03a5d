// @vitest-environment happy-dom
import { userEvent } from '@testing-library/user-event'
import { cleanup, render, screen, within } from '@testing-library/vue'
import { afterEach, expect, it } from 'vitest'
import { defineComponent, h } from 'vue'
import type { Display } from '@/api/types'
import { i18n } from '@/i18n'
import { offerOpenFile } from '@/shared/lib/openFile'
import type { ToolCard } from '../body/card'
import NavigationView from './NavigationView.vue'

afterEach(cleanup)
type NavigationDisplay = Extract<Display, { type: 'navigation' }>
type Place = NavigationDisplay['places'][number]
const place = (changes: Partial<Place>): Place => ({
  path: 'src/a.py',
  line: 3,
  end_line: 9,
  kind: 'method',
  name: 'start',
  container: 'Server',
  text: '',
  ...changes,
})
const show = (display: Partial<NavigationDisplay>) => {
  const card: ToolCard = {
    key: 'tool:1',
    callId: 'c',
    name: 'code_references',
    arguments: { symbol: 'start' },
    phrase: 'Finding uses of start',
    outcome: 'succeeded',
    startedAt: null,
    durationMs: 1,
    output: '[start is not used here]',
    preview: '[start is not used here]',
    display: { type: 'navigation', path: '.', subject: 'start', places: [], is_cut: false, ...display },
    body: null,
  }
  const opened: string[] = []
  const page = defineComponent(() => {
    offerOpenFile((path) => opened.push(path))
    return () => h(NavigationView, { card, sessionId: 's' })
  })
  render(page, { global: { plugins: [i18n] } })
  return opened
}

it('lists places by their file, which is opened by its name', async () => {
  const opened = show({
    places: [
      place({}),
      place({ line: 5, end_line: 5, kind: 'use', text: '<b>start()</b>' }),
      place({ path: 'b.ts', kind: 'function', name: 'start', container: '' }),
    ],
  })
  const first = within(screen.getByRole('region', { name: 'src/a.py' }))
  expect(first.getAllByRole('listitem').map((item) => item.textContent)).toEqual([
    '3–9methodServer.start',
    '5use<b>start()</b>',
  ])
  await userEvent.click(screen.getByRole('button', { name: 'b.ts' }))
  expect(opened).toEqual(['b.ts'])
  expect(screen.queryByText('There is more than is shown')).toBeNull()
})

it('says that there is more, and shows the text where nothing was found', () => {
  show({ places: [place({})], is_cut: true })
  expect(screen.getByText('There is more than is shown')).toBeTruthy()
  cleanup()
  show({})
  expect(screen.getByText('[start is not used here]')).toBeTruthy()
})

it('shows a kind that it has no word for as it is', () => {
  show({ places: [place({ kind: 'gizmo' })] })
  expect(screen.getByText('gizmo')).toBeTruthy()
})
