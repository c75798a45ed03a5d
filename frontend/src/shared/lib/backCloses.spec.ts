// @vitest-environment jsdom
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { effectScope, nextTick, ref, type EffectScope, type Ref } from 'vue'
import { createRouter, createWebHistory, type Router } from 'vue-router'
import { letBackClose, useBackCloses } from './backCloses'

let router: Router
let scope: EffectScope
let drawer: Ref<boolean>
let search: Ref<boolean>

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
  it('is not needed where the page that is there already was chosen', async () => {
    await open(drawer)
    await router.push('/s/one?x=1')
    expect(drawer.value).toBe(false)
    await covered(false)
    expect(here()).toBe('/s/one?x=1')
  })
})
