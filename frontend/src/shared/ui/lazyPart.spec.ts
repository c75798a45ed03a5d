// @vitest-environment happy-dom
import { cleanup, render, screen } from '@testing-library/vue'
import { afterEach, expect, it, vi } from 'vitest'
import { defineComponent, h } from 'vue'
import { createMemoryHistory, createRouter, RouterView } from 'vue-router'
import { i18n } from '@/i18n'
import { lazyPage, lazyPart } from './lazyPart'

afterEach(() => {
  cleanup()
  vi.useRealTimers()
})
const Part = defineComponent({ props: { word: String }, setup: (props) => () => h('p', props.word) })
const Meanwhile = defineComponent({ setup: () => () => h('p', 'on its way') })
const shown = (part: typeof Part) => render(part, { props: { word: 'here' }, global: { plugins: [i18n] } })

it('shows what stands in for a part until its code is there', async () => {
  shown(lazyPart(() => Promise.resolve({ default: Part }), Meanwhile))
  expect(screen.getByText('on its way')).toBeTruthy()
  expect(await screen.findByText('here')).toBeTruthy()
})
it('asks again for code that did not come, and in the end says so and offers to load the page again', async () => {
  vi.useFakeTimers()
  let asked = 0
  const comes = (at: number) => () =>
    (asked += 1) < at ? Promise.reject(new Error('away')) : Promise.resolve({ default: Part })
  shown(lazyPart(comes(3), Meanwhile))
  await vi.advanceTimersByTimeAsync(5000)
  expect(screen.getByText('here')).toBeTruthy()
  cleanup()
  asked = 0
  shown(lazyPart(comes(4), Meanwhile))
  await vi.advanceTimersByTimeAsync(5000)
  expect(asked).toBe(3)
  expect(screen.getByRole('alert').textContent).toContain('did not load')
  expect(screen.getByRole('button', { name: 'Load the page again' })).toBeTruthy()
})
it('gives a page of the router its properties', async () => {
  shown(lazyPage(() => Promise.resolve({ default: Part })) as unknown as typeof Part)
  expect(await screen.findByText('here')).toBeTruthy()
})
it('is shown by the router as a page, and not taken for a function that loads one', async () => {
  const router = createRouter({
    history: createMemoryHistory(),
    routes: [{ path: '/', component: lazyPage(() => Promise.resolve({ default: Part })), props: { word: 'shown' } }],
  })
  render(RouterView, { global: { plugins: [i18n, router] } })
  await router.push('/')
  expect(await screen.findByText('shown')).toBeTruthy()
})
