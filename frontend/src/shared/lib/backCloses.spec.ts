// @vitest-environment jsdom
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { computed, effectScope, nextTick, ref, watch, type EffectScope, type Ref } from 'vue'
import { createRouter, createWebHistory, type Router } from 'vue-router'
import { letBackClose, useAddress, useBackCloses } from './backCloses'

let router: Router
let scope: EffectScope
let drawer: Ref<boolean>
let search: Ref<boolean>
let tab: Ref<string | undefined>

beforeEach(async () => {
  scope = effectScope()
  await scope.run(async () => {
    drawer = ref(false)
    search = ref(false)
    router = createRouter({
      history: createWebHistory(),
      routes: [{ path: '/:any(.*)*', component: { render: () => null } }],
    })
    letBackClose(router)
    useBackCloses(drawer)
    useBackCloses(search)
    tab = ref<string>()
    useAddress('tab', () => tab.value)
    await router.push('/s/before')
    await router.push('/s/one?x=1')
  })
})
afterEach(() => scope.stop())
const here = (): string => `${location.pathname}${location.search}`
const isCovered = (): boolean => Number((history.state as { covered?: number } | null)?.covered) > 0
const covered = (is: boolean): Promise<void> => vi.waitFor(() => expect(isCovered()).toBe(is))
/** Long enough for a step back that should not be. */
const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 60))

async function open(cover: Ref<boolean>): Promise<void> {
  cover.value = true
  await covered(true)
  await settled()
}

describe('going back', () => {
  it('closes what covers the page, and from there leaves the page', async () => {
    await open(drawer)
    expect(here()).toBe('/s/one?x=1')
    history.back()
    await vi.waitFor(() => expect(drawer.value).toBe(false))
    expect(here()).toBe('/s/one?x=1')
    await settled()
    history.back()
    await vi.waitFor(() => expect(here()).toBe('/s/before'))
  })
  it('asks again each time where the cover does not close at once', async () => {
    const isShown = ref(false)
    const asked = vi.fn()
    const form = computed({ get: () => isShown.value, set: asked })
    scope.run(() => useBackCloses(form))
    isShown.value = true
    await covered(true)
    await settled()
    for (let back = 0; back < 2; back += 1) {
      asked.mockClear()
      history.back()
      await vi.waitFor(() => expect(asked).toHaveBeenCalledWith(false))
      await covered(true)
      await settled()
    }
    isShown.value = false
    await covered(false)
    await settled()
    expect(here()).toBe('/s/one?x=1')
  })
  it('leaves the page at once where the cover was closed otherwise', async () => {
    await open(drawer)
    drawer.value = false
    await covered(false)
    await settled()
    history.back()
    await vi.waitFor(() => expect(here()).toBe('/s/before'))
  })
  it.each(['before', 'after'])('comes to the page again where the cover led elsewhere and closed %s', async (order) => {
    await open(drawer)
    if (order === 'before') drawer.value = false
    await router.push('/s/two')
    await nextTick()
    expect(drawer.value).toBe(false)
    await settled()
    expect([here(), isCovered()]).toEqual(['/s/two', false])
    history.back()
    await vi.waitFor(() => expect(here()).toBe('/s/one?x=1'))
    await settled()
    expect(here()).toBe('/s/one?x=1')
    history.back()
    await vi.waitFor(() => expect(here()).toBe('/s/before'))
  })
  it('needs one step for a cover that gave its place to another', async () => {
    await open(drawer)
    drawer.value = false
    search.value = true
    await settled()
    history.back()
    await vi.waitFor(() => expect(search.value).toBe(false))
    await settled()
    history.back()
    await vi.waitFor(() => expect(here()).toBe('/s/before'))
  })
  it('leaves open what opens while the browser still steps back from another', async () => {
    await open(drawer)
    vi.spyOn(router, 'go').mockImplementationOnce((by) => {
      history.go(by)
      search.value = true
    })
    drawer.value = false
    await vi.waitFor(() => expect(search.value).toBe(true))
    await settled()
    expect([search.value, isCovered(), here()]).toEqual([true, true, '/s/one?x=1'])
    history.back()
    await vi.waitFor(() => expect(search.value).toBe(false))
    await settled()
    history.back()
    await vi.waitFor(() => expect(here()).toBe('/s/before'))
  })
  it('closes what stands on another cover first, and both at once where they opened together', async () => {
    await open(drawer)
    await open(search)
    history.back()
    await vi.waitFor(() => expect(search.value).toBe(false))
    await settled()
    expect([drawer.value, isCovered()]).toEqual([true, true])
    await open(search)
    search.value = false
    drawer.value = false
    await covered(false)
    await settled()
    drawer.value = true
    await open(search)
    history.back()
    await vi.waitFor(() => expect([drawer.value, search.value]).toEqual([false, false]))
    await settled()
    expect(here()).toBe('/s/one?x=1')
    history.back()
    await vi.waitFor(() => expect(here()).toBe('/s/before'))
  })
  it('comes to the page again where a cover on another led elsewhere', async () => {
    await open(drawer)
    await open(search)
    await router.push('/s/two')
    await settled()
    expect([here(), isCovered(), drawer.value, search.value]).toEqual(['/s/two', false, false, false])
    history.back()
    await vi.waitFor(() => expect(here()).toBe('/s/one?x=1'))
    await settled()
    expect([here(), isCovered()]).toEqual(['/s/one?x=1', false])
    history.back()
    await vi.waitFor(() => expect(here()).toBe('/s/before'))
  })
  it('comes to the page again where one of two covers is heard to close later than the other', async () => {
    const asking = ref(false)
    const model = computed({ get: () => asking.value, set: (is) => void nextTick(() => (asking.value = is)) })
    scope.run(() => useBackCloses(model))
    await open(drawer)
    asking.value = true
    await vi.waitFor(() => expect(history.state).toMatchObject({ covered: 2 }))
    await router.replace('/s/two')
    await vi.waitFor(() => expect(asking.value).toBe(false))
    await settled()
    expect([here(), isCovered()]).toEqual(['/s/two', false])
  })
  it('is not needed where the page that is there already was chosen', async () => {
    await open(drawer)
    await router.push('/s/one?x=1')
    expect(drawer.value).toBe(false)
    await covered(false)
    expect(here()).toBe('/s/one?x=1')
  })
})

describe('the address', () => {
  it('names what is shown, without an entry of its own in the history', async () => {
    tab.value = 'files'
    await vi.waitFor(() => expect(here()).toBe('/s/one?x=1&tab=files'))
    tab.value = undefined
    await vi.waitFor(() => expect(here()).toBe('/s/one?x=1'))
    history.back()
    await vi.waitFor(() => expect(here()).toBe('/s/before'))
  })
  it('names what a cover shows while it is open, and Back still needs one step', async () => {
    drawer.value = true
    tab.value = 'files'
    await covered(true)
    await settled()
    expect(here()).toBe('/s/one?x=1&tab=files')
    tab.value = 'terminal'
    await vi.waitFor(() => expect(here()).toBe('/s/one?x=1&tab=terminal'))
    expect([isCovered(), drawer.value]).toEqual([true, true])
    const leaves = watch(drawer, () => (tab.value = undefined))
    history.back()
    await vi.waitFor(() => expect([drawer.value, here()]).toEqual([false, '/s/one?x=1']))
    leaves()
    await settled()
    history.back()
    await vi.waitFor(() => expect(here()).toBe('/s/before'))
  })
  it.each(['before', 'after'])('does not end the navigation that begins %s it changes', async (order) => {
    if (order === 'after') tab.value = 'files'
    const gone = router.push('/s/two')
    if (order === 'before') tab.value = 'files'
    expect(await gone).toBeUndefined()
    await vi.waitFor(() => expect(here()).toBe('/s/two?tab=files'))
  })
  it('names it at the next place too, and comes back to where it was', async () => {
    tab.value = 'files'
    await vi.waitFor(() => expect(here()).toBe('/s/one?x=1&tab=files'))
    await router.push('/s/two')
    await vi.waitFor(() => expect(here()).toBe('/s/two?tab=files'))
    history.back()
    await vi.waitFor(() => expect(here()).toBe('/s/one?x=1&tab=files'))
  })
})
