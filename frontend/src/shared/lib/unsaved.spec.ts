// @vitest-environment happy-dom
import { cleanup, render, screen } from '@testing-library/vue'
import userEvent from '@testing-library/user-event'
import { afterEach, expect, it, vi } from 'vitest'
import { defineComponent, ref } from 'vue'
import { createMemoryHistory, createRouter, RouterView } from 'vue-router'
import { i18n } from '@/i18n'
import DiscardQuestion from '@/shared/ui/DiscardQuestion.vue'
import { askBeforeLeaving, useUnsavedPage } from './unsaved'

afterEach(cleanup)

const Form = defineComponent({
  components: { DiscardQuestion },
  setup() {
    const text = ref('')
    useUnsavedPage(
      () => null,
      () => text.value !== '',
    )
    return { text }
  },
  template: '<main><input v-model="text" aria-label="Text" /><DiscardQuestion /></main>',
})

async function write() {
  const away = { template: '<h1>Elsewhere</h1>' }
  const router = createRouter({
    history: createMemoryHistory(),
    routes: [
      { path: '/list', component: away },
      { path: '/form', component: Form },
      { path: '/login', component: away, meta: { open: true } },
    ],
  })
  askBeforeLeaving(router)
  await router.push('/list')
  await router.push('/form?record=one')
  render(RouterView, { global: { plugins: [i18n, router] } })
  await userEvent.type(screen.getByLabelText('Text'), 'Words')
  return router
}
const press = async (name: string): Promise<void> => userEvent.click(await screen.findByRole('button', { name }))

it.each(['/list', '/form?record=two'])('stays with a changed form of a page until it may go to %s', async (place) => {
  const router = await write()
  const left = router.push(place)
  await press('Keep editing')
  await left
  expect(router.currentRoute.value.fullPath).toBe('/form?record=one')
  expect((screen.getByLabelText('Text') as HTMLInputElement).value).toBe('Words')
  const gone = router.push(place)
  await press('Discard')
  await gone
  expect(router.currentRoute.value.fullPath).toBe(place)
})
it('asks where the person goes back, and stays at its address', async () => {
  const router = await write()
  router.back()
  await press('Keep editing')
  await vi.waitFor(() => expect(router.currentRoute.value.path).toBe('/form'))
  expect((screen.getByLabelText('Text') as HTMLInputElement).value).toBe('Words')
})
it('asks nothing for another part of the same place, for a log-in, or once nothing is changed', async () => {
  const router = await write()
  await router.push('/form?record=one&panel=files')
  expect(router.currentRoute.value.query['panel']).toBe('files')
  await router.push('/login')
  expect(router.currentRoute.value.path).toBe('/login')
  cleanup()
  const other = await write()
  await userEvent.clear(screen.getByLabelText('Text'))
  await other.push('/list')
  expect(other.currentRoute.value.path).toBe('/list')
})
it('keeps the browser from loading the page anew in silence', async () => {
  await write()
  const asked = new Event('beforeunload', { cancelable: true })
  window.dispatchEvent(asked)
  expect(asked.defaultPrevented).toBe(true)
  await userEvent.clear(screen.getByLabelText('Text'))
  const quiet = new Event('beforeunload', { cancelable: true })
  window.dispatchEvent(quiet)
  expect(quiet.defaultPrevented).toBe(false)
})
